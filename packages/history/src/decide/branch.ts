import { fail } from '@stemma/errors';
import { checkName } from '../history-id.ts';
import type { Decided } from '../signatures.ts';
import type { HistoryState } from '../state.ts';

/** Where a lineage is to go on from: a position of `parent` after the frame `at`, on its chain. */
export type Target = { readonly parent: number; readonly at: number };

/**
 * A lineage of its own goes on from a position (context-tree §5). Decided like every command, but not yet offered as
 * one: the fold and the rows know forks from the start.
 *
 * @throws E_SNAPSHOT_NOT_FOUND, E_NAME_INVALID
 */
export const decideFork = (state: HistoryState, target: Target, name: string | null): Decided =>
  started(state, target, 'fork', name === null ? null : checkName(name), null);

/**
 * The lineage `target.parent` is left for a new one at an earlier position of its chain; the name that people use moves
 * to it (context-tree §5), the abandoned one keeps its id and is called `abandoned`.
 */
export const decideRollback = (
  state: HistoryState,
  target: Target,
  name: string | null,
  abandoned: string | null,
): Decided => started(state, target, 'rollback', name, abandoned);

const started = (
  state: HistoryState,
  { parent, at }: Target,
  how: 'fork' | 'rollback',
  name: string | null,
  abandoned: string | null,
): Decided => {
  if (at >= state.next || parent >= state.next || at < 0)
    throw fail('E_SNAPSHOT_NOT_FOUND', `there is no position ${at} of strand ${parent}`);
  return {
    lineage: state.next,
    events: [{ type: 'LineageStarted', how, parent, at, name, abandoned }],
    repeats: null,
  };
};
