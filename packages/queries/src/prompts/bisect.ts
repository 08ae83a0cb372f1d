import { fail } from '@stemma/errors';
import { lineageName, listSnapshots, type Line, type Position } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import { parseSelector } from '@stemma/selectors';
import { positionOf } from '../read.ts';
import { openTreeLoader, type LoadTree } from '../selection/load-tree.ts';
import { idsAt } from '../selection/select-ids.ts';
import type { BisectAnswer, BisectQuestion } from './bisect-types.ts';
import { explainChanges } from './explain-changes.ts';

const MOST_IDS = 100;

/**
 * The first snapshot, on the way from a good one to a bad one, at which a selector holds. The way follows the chains:
 * back from `good` to the last snapshot that both have in common, and on to `bad`. Every look halves it, so n snapshots
 * take log2(n) looks beside the two at the ends; where the selector holds, fails and holds again, one of the places
 * where it begins to hold is found.
 *
 * @throws E_BISECT_ENDS when the ends are no two snapshots, the selector holds at `good` or does not at `bad`;
 *   E_SELECTOR_INVALID, E_SNAPSHOT_NOT_FOUND
 */
export const bisect = async (
  projector: ServedRows,
  line: Line,
  { good, bad, when, not = false }: BisectQuestion,
  load: LoadTree = openTreeLoader(),
): Promise<BisectAnswer> => {
  const selector = parseSelector(when, { snapshot: true });
  if (selector.at.kind !== 'working')
    throw fail(
      'E_SELECTOR_INVALID',
      'the selector of a search has no position of its own: the search gives it',
    );
  const way = await projector.read((rows) => {
    const [from, to] = [good, bad].map((ref) => snapshotAt(positionOf(rows, line, ref), ref)) as [
      Position,
      Position,
    ];
    const chainOf = ({ history, strand, seq }: Position): Position[] =>
      listSnapshots(rows, history, strand, seq, { first: 'oldest' }).map((row) => ({
        history,
        strand: row.strand,
        seq: row.seq,
        cycle: row.cycle,
        committed: true,
        label: `@c${row.cycle}`,
        lineage: lineageName(rows, history, row.strand),
      }));
    return wayBetween(chainOf(from), chainOf(to));
  });
  if (way.length < 2) throw fail('E_BISECT_ENDS', `${good} and ${bad} are the same snapshot`);

  const asked = { projector, load };
  let loads = 0;
  const seen = new Map<number, readonly string[]>();
  const holds = async (at: number): Promise<boolean> => {
    loads += 1;
    const ids = await idsAt(asked, way[at] as Position, selector, { limit: MOST_IDS });
    seen.set(at, ids);
    return ids.length > 0 !== not;
  };
  let [low, high] = [0, way.length - 1];
  const what = not ? 'matches nothing' : 'matches something';
  if (await holds(low))
    throw fail('E_BISECT_ENDS', `the selector ${what} at ${good} already`, { end: 'good' });
  if (!(await holds(high)))
    throw fail('E_BISECT_ENDS', `the selector ${not ? 'matches something' : 'matches nothing'} at ${bad}`, {
      end: 'bad',
    });
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (await holds(middle)) high = middle;
    else low = middle;
  }
  const [before, first] = [way[low] as Position, way[high] as Position];
  const back = first.seq < before.seq;
  return {
    first,
    before,
    way: back ? 'back' : 'on',
    matched: seen.get(high) ?? [],
    matchedBefore: seen.get(low) ?? [],
    changes: await explainChanges(projector, back ? first : before, back ? before : first),
    snapshots: way.length,
    loads,
  };
};

const snapshotAt = (position: Position, ref: string): Position => {
  if (!position.committed)
    throw fail(
      'E_BISECT_ENDS',
      `${ref === '' ? 'the working state' : ref} is no snapshot: ${position.label}`,
    );
  return position;
};

/** From the end of one chain back to what both have in common, and on to the end of the other. */
const wayBetween = (from: readonly Position[], to: readonly Position[]): readonly Position[] => {
  let common = 0;
  while (common < from.length && common < to.length && from[common]?.seq === to[common]?.seq) common++;
  return [...from.slice(Math.max(0, common - 1)).reverse(), ...to.slice(common)];
};
