import { CONTEXT_TREE } from './context-tree.ts';
import { HISTORY } from './history.ts';
import { HISTORY_STORE } from './history-store.ts';
import { LOG } from './log.ts';
import { PROJECTOR } from './projector.ts';
import { QUERIES } from './queries.ts';
import { ROWS } from './rows.ts';
import type { EquivalentMutant } from './equivalent-mutant.ts';

export const EQUIVALENT: readonly EquivalentMutant[] = [
  ...CONTEXT_TREE,
  ...HISTORY,
  ...HISTORY_STORE,
  ...LOG,
  ...PROJECTOR,
  ...QUERIES,
  ...ROWS,
];
