import { COMMANDS } from './catalogue.ts';
import { runCommands } from './run-commands.ts';
import type { Surroundings } from './surroundings.ts';

/** Runs one command line of every command that there is, and gives its exit code. */
export const runCli = (args: readonly string[], around: Surroundings): Promise<number> =>
  runCommands(COMMANDS, args, around);
