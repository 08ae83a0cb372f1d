import { commandsFor } from './catalogue.ts';
import { runCommands } from './run-commands.ts';
import type { Surroundings } from './surroundings.ts';

/** Runs one command line of every command that there is, and gives its exit code. */
export const runCli = async (args: readonly string[], around: Surroundings): Promise<number> =>
  runCommands(await commandsFor(args), args, around);
