import { echo, fail, VERSION, visibleText } from '@stemma/errors';
import { Command as Commander, CommanderError } from 'commander';
import { existsSync } from 'node:fs';
import { register, type TopCommand } from './command.ts';
import { headingOf, inHelpOrder } from './help.ts';
import { openOutput, reportError } from './output.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * Runs one command line of the given commands and gives its exit code: 0 ok, 1 failed, 3 conflict, 4 not allowed, 5 verification failed,
 * 64 usage, 74 input or output, 130 cancelled. A command that serves exits 0 after SIGTERM. Everything it prints goes to the streams it is given.
 */
export const runCommands = async (
  commands: readonly TopCommand[],
  args: readonly string[],
  around: Surroundings,
): Promise<number> => {
  const json = args.slice(0, endOfOptions(args)).includes('--json');
  const output = openOutput(around, json);
  const program = new Commander('stemma')
    .description('The flight recorder and time machine for what language models are shown.')
    .version(VERSION)
    .option('--home <directory>', 'the home to use (else STEMMA_HOME, else ./.stemma)')
    .option('--json', 'one JSON document on stdout')
    .enablePositionalOptions()
    .helpCommand(false)
    // What a command takes stands in its own help.
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: (text) => void around.stdout.write(text),
      // Help that nobody asked for; errors are reported below, as all others are.
      writeErr: (text) => void around.stderr.write(visibleText(text)),
      outputError: () => undefined,
      getOutHelpWidth: () => around.stdout.columns ?? 80,
      getErrHelpWidth: () => around.stdout.columns ?? 80,
    })
    .exitOverride();
  let exitCode = 0;
  for (const line of inHelpOrder(commands)) register(program, line, around, (code) => (exitCode = code));
  program
    .command('help')
    .helpGroup(headingOf('This program'))
    .argument('[command...]', 'a command, and a command of its own')
    .description('display help for a command')
    .action((names: readonly string[]) => commandNamed(program, names).help());
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(error, output);
    if (error.exitCode === 0) return 0; // help or version was asked for
    return reportError(
      fail('E_USAGE', echo(usageMessage(error))),
      output,
      exampleFor(commands, program, args),
    );
  }
};

/** The example of the command that the arguments begin with. */
const exampleFor = (
  commands: readonly TopCommand[],
  program: Commander,
  args: readonly string[],
): string | undefined => {
  const command = args.find((arg) => program.commands.some((each) => each.name() === arg));
  return commands.find(({ name }) => name === command)?.example;
};

const usageMessage = ({ code, message }: CommanderError): string => {
  if (code === 'commander.help') return 'the command is missing';
  const said = message.replace(/^error: /, '').replaceAll('\n', ' ');
  const option = code === 'commander.unknownOption' ? /'(-.*)'/.exec(said)?.[1] : undefined;
  return option !== undefined && existsSync(option)
    ? `${said}; for the file of that name write ./${option}, or put -- in front of it`
    : said;
};

/** The command that the names lead to. @throws E_USAGE if there is none */
const commandNamed = (program: Commander, names: readonly string[]): Commander =>
  names.reduce((command, name) => {
    const found = command.commands.find((each) => each.name() === name);
    if (found === undefined) throw fail('E_USAGE', `there is no command ${JSON.stringify(names.join(' '))}`);
    return found;
  }, program);

/** Behind `--` everything is an argument. */
const endOfOptions = (args: readonly string[]): number => {
  const end = args.indexOf('--');
  return end === -1 ? args.length : end;
};
