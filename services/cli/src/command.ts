import { Command as Commander, CommanderError, Option } from 'commander';
import { fail, isStemmaError } from '@stemma/errors';
import { openHome, type Home } from '@stemma/home';
import { resolve } from 'node:path';
import { openOutput, reportError, type Output } from './output.ts';

/** What a running command is given. */
export type Context = {
  readonly output: Output;
  readonly directory: string;
  /** Ends with Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  /** Opens the home; it is closed when the command ends. `create` for commands that write. */
  home(options?: { readonly create?: boolean }): Promise<Home>;
};

type Values = Readonly<Record<string, unknown>>;

/** A command as data: commander's syntax for arguments and options, and what runs. */
export type CommandLine = {
  readonly name: string;
  readonly summary: string;
  /** As commander writes them: `['<history>', '[ref]', '<files...>']`, each with a description. */
  readonly arguments: readonly (readonly [syntax: string, description: string])[];
  readonly options: readonly (readonly [syntax: string, description: string])[];
  /** Gives the exit code where it is not 0. */
  run(
    context: Context,
    args: readonly (string | readonly string[] | undefined)[],
    options: Values,
  ): Promise<number | undefined>;
};

/** Adds a command to the program. The exit code goes to `exit`. */
export const register = (program: Commander, line: CommandLine, exit: (code: number) => void): void => {
  const command = program.command(line.name).description(line.summary);
  for (const [syntax, description] of line.arguments) command.argument(syntax, description);
  for (const [syntax, description] of line.options) command.addOption(new Option(syntax, description));
  command
    .option('--home <directory>', 'the home to use (else STEMMA_HOME, else ./.stemma)')
    .option('--json', 'one JSON document on stdout')
    .exitOverride()
    .action(async (...received: unknown[]) => {
      const options = received[line.arguments.length] as Values;
      const args = received.slice(0, line.arguments.length) as (string | readonly string[] | undefined)[];
      exit(await runCommand(line, args, options));
    });
};

const runCommand = async (
  line: CommandLine,
  args: readonly (string | readonly string[] | undefined)[],
  options: Values,
): Promise<number> => {
  const output = openOutput(options['json'] === true);
  const abort = new AbortController();
  const cancel = (): void => {
    abort.abort(fail('E_CANCELLED', 'cancelled'));
  };
  process.once('SIGINT', cancel);
  process.once('SIGTERM', cancel);
  let home: Home | undefined;
  const directory = resolve(
    typeof options['home'] === 'string' ? options['home'] : (process.env['STEMMA_HOME'] ?? '.stemma'),
  );
  const context: Context = {
    output,
    directory,
    signal: abort.signal,
    home: async ({ create = false } = {}) => (home ??= await openHome({ directory, create })),
  };
  try {
    return (await line.run(context, args, options)) ?? 0;
  } catch (error) {
    return reportError(error, output.json);
  } finally {
    await home?.close();
    process.removeListener('SIGINT', cancel);
    process.removeListener('SIGTERM', cancel);
  }
};

/** The exit code for an error that commander raised: help and version are fine, the rest is usage. */
export const usageExit = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 64;
  if (isStemmaError(error)) return error.row.exit;
  throw error;
};
