import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import type { RecordedProgram } from '@stemma/queries';
import { statSync } from 'node:fs';
import { commandText } from '../program-runs.ts';

/** The command that runs again, where, and how it ended when it was recorded. */
export type CommandToRun = {
  readonly words: readonly string[];
  readonly directory: string;
  /** What is recorded of the run; undefined: nobody recorded what was run. */
  readonly program: RecordedProgram | undefined;
  /** True: it is the recorded command, in the recorded directory. */
  readonly isRecorded: boolean;
};

/**
 * The command that was given, in the current directory; else the recorded one, in its own.
 *
 * @param run the run that answers; null: calls of no run
 * @param isCopied it runs in a copy of its files, so its directory need not be there
 * @throws E_RERUN_NO_COMMAND if none is given, and the recorded one is not known, had secrets in it, or has lost its directory
 */
export const commandToRun = async (
  home: Pick<Home, 'calls'>,
  run: string | null,
  given: readonly string[],
  isCopied: boolean,
): Promise<CommandToRun> => {
  const program = run === null ? undefined : await home.calls.run(run);
  if ((given[0] ?? '') !== '') return { words: given, directory: process.cwd(), program, isRecorded: false };
  if (program === undefined || program.command.length === 0)
    throw fail('E_RERUN_NO_COMMAND', 'nobody recorded which command made these calls');
  const { command, directory, isRedacted } = program;
  if (isRedacted)
    throw fail(
      'E_RERUN_NO_COMMAND',
      `the recorded command had secrets, which are not kept: ${commandText(command)}`,
    );
  if (!isCopied && !isDirectory(directory))
    throw fail(
      'E_RERUN_NO_COMMAND',
      `the directory ${JSON.stringify(directory)}, in which ${commandText(command)} was recorded, is not there`,
    );
  return { words: command, directory, program, isRecorded: true };
};

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
