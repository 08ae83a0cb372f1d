import { fail } from '@stemma/errors';
import { branchAddressOf, listSnapshots, type BranchRef, type Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { parseSelector } from '@stemma/selectors';
import { positionOf } from '../read.ts';
import { openTreeLoader, type LoadTree } from '../selection/load-tree.ts';
import { idsAt } from '../selection/select-ids.ts';
import type { BisectAnswer, BisectQuestion } from './bisect-types.ts';
import { explainChanges } from './explain-changes.ts';

const MAX_IDS = 100;

/**
 * The first snapshot, on the way from a good one to a bad one, at which a selector holds. The way follows the ancestor
 * paths: back from `good` to the newest common snapshot, then forward to `bad`. Each evaluation halves the way, so n
 * snapshots take log2(n) evaluations beside those at the two ends; if the selector holds, fails and holds again, the
 * answer is one of the snapshots at which it begins to hold.
 *
 * @throws E_BISECT_ENDS when the ends are not two snapshots, the selector holds at `good` or fails at `bad`;
 *   E_SELECTOR_INVALID, E_SNAPSHOT_NOT_FOUND
 */
export const bisect = async (
  projection: Projection,
  branchRef: BranchRef,
  { good, bad, when, not = false }: BisectQuestion,
  load: LoadTree = openTreeLoader(),
): Promise<BisectAnswer> => {
  const selector = parseSelector(when, { snapshot: true });
  if (selector.at.kind !== 'working')
    throw fail('E_SELECTOR_INVALID', 'the selector of a bisection must not have a position');
  const stops = await projection.read((rows) => {
    const [from, to] = [good, bad].map((ref) => snapshotAt(positionOf(rows, branchRef, ref), ref)) as [
      Position,
      Position,
    ];
    const snapshotsUpTo = ({ history, branchId, seq }: Position): Position[] =>
      listSnapshots(rows, history, branchId, seq, { first: 'oldest' }).map((row) => ({
        history,
        branchId: row.branchId,
        seq: row.seq,
        cycle: row.cycle,
        committed: true,
        label: `@c${row.cycle}`,
        branch: branchAddressOf(rows, history, row.branchId),
      }));
    return snapshotsBetween(snapshotsUpTo(from), snapshotsUpTo(to));
  });
  if (stops.length < 2) throw fail('E_BISECT_ENDS', `${good} and ${bad} are the same snapshot`);

  const sources = { projection, load };
  let loads = 0;
  const matchedIds = new Map<number, readonly string[]>();
  const holds = async (at: number): Promise<boolean> => {
    loads += 1;
    const ids = await idsAt(sources, stops[at] as Position, selector, { limit: MAX_IDS });
    matchedIds.set(at, ids);
    return ids.length > 0 !== not;
  };
  let [low, high] = [0, stops.length - 1];
  const what = not ? 'matches nothing' : 'matches something';
  if (await holds(low))
    throw fail('E_BISECT_ENDS', `the selector already ${what} at ${good}`, { end: 'good' });
  if (!(await holds(high)))
    throw fail('E_BISECT_ENDS', `the selector ${not ? 'matches something' : 'matches nothing'} at ${bad}`, {
      end: 'bad',
    });
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (await holds(middle)) high = middle;
    else low = middle;
  }
  const [before, first] = [stops[low] as Position, stops[high] as Position];
  const back = first.seq < before.seq;
  return {
    first,
    before,
    way: back ? 'back' : 'on',
    matched: matchedIds.get(high) ?? [],
    matchedBefore: matchedIds.get(low) ?? [],
    changes: await explainChanges(projection, back ? first : before, back ? before : first),
    snapshots: stops.length,
    loads,
  };
};

const snapshotAt = (position: Position, ref: string): Position => {
  if (!position.committed)
    throw fail(
      'E_BISECT_ENDS',
      `${ref === '' ? 'the working state' : ref} is not a snapshot: it is ${position.label}`,
    );
  return position;
};

/** The snapshots from the end of one ancestor path back to the common part, and forward to the end of the other. */
const snapshotsBetween = (from: readonly Position[], to: readonly Position[]): readonly Position[] => {
  let sharedCount = 0;
  while (
    sharedCount < from.length &&
    sharedCount < to.length &&
    from[sharedCount]?.seq === to[sharedCount]?.seq
  )
    sharedCount++;
  return [...from.slice(Math.max(0, sharedCount - 1)).reverse(), ...to.slice(sharedCount)];
};
