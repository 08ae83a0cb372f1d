import type { TopCommand } from '../command.ts';
import { compileLog } from '../stages/compile.ts';
import { stagesEvents } from '../stages/events.ts';
import { HISTORY_OPTIONS, stagesDiff, stagesOfHistory } from '../stages/of-history.ts';
import { treeOfLog } from '../stages/tree.ts';
import { verifyLog } from '../stages/verify.ts';

export const stages: TopCommand = {
  name: 'stages',
  summary: 'show the compiler stages RAW, SPEC, HEADER and FROZEN of a history at a position',
  group: 'Ask why',
  place: 11,
  example: 'stemma stages mine @c7',
  arguments: [
    ['[history]', 'a history or branch, by id or name'],
    ['[ref]', 'a position: @t0 @t-1 @c12 @s57 @name:NAME (default: the working state)'],
  ],
  options: HISTORY_OPTIONS,
  subcommands: [stagesDiff, stagesEvents, compileLog, treeOfLog, verifyLog],
  run: stagesOfHistory,
};
