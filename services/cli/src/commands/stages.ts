import { fail } from '@stemma/errors';
import type { CommandLine } from '../command.ts';
import { compileLog } from '../stages/compile.ts';
import { treeOfLog } from '../stages/tree.ts';
import { verifyLog } from '../stages/verify.ts';

export const stages: CommandLine = {
  name: 'stages',
  summary: 'compile event logs into the stages RAW, SPEC, HEADER and FROZEN, and compare them',
  arguments: [],
  options: [],
  subcommands: [compileLog, treeOfLog, verifyLog],
  run: () => {
    throw fail('E_USAGE', 'say what to do: compile, tree or verify');
  },
};
