import type { SnapshotPage, SnapshotSummary as SnapshotAnswer } from '@stemma/api';
import type { Line } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { HistorySummary, SnapshotSummary } from '@stemma/queries';
import { positionAnswer } from './lines.ts';
import { passages } from './passage.ts';

type Counts = { readonly added: number; readonly left: number };

/** Gives pages of a lineage's snapshots, newest first. What came and went at one is counted once and remembered. */
export type SnapshotPages = (
  line: Line,
  page: { readonly limit?: number | undefined; readonly before?: number | undefined },
) => Promise<SnapshotPage>;

export const openSnapshotPages = (home: Home): SnapshotPages => {
  const counted = new Map<string, Counts>();

  const countMissing = async (
    summary: HistorySummary,
    line: Line,
    chain: readonly SnapshotSummary[],
  ): Promise<void> => {
    const key = ({ seq }: SnapshotSummary): string => `${line.history}:${seq}`;
    const from = chain.findIndex((one, i) => i > 0 && !counted.has(key(one)));
    if (from === -1) return;
    const rest = chain.slice(from - 1);
    if (counted.size > 200_000) counted.clear();
    const found = await passages(
      home,
      summary,
      line.strand,
      rest.map(({ seq }) => seq),
    );
    for (const [i, { came, left }] of found.entries()) {
      const snapshot = rest[i + 1];
      if (snapshot !== undefined) counted.set(key(snapshot), { added: came.size, left: left.size });
    }
  };

  return async (line, { limit = 50, before }) => {
    const size = Math.max(1, Math.min(limit, 200));
    const summary = await home.history(line.history);
    // One more than is shown: the counts of the oldest refer to the one before it.
    const chain = ascending(
      await home.snapshots(line, { limit: size + 1, ...(before === undefined ? {} : { before }) }),
    );
    const hasMore = chain.length > size;
    await countMissing(summary, line, chain);
    const shown = hasMore ? chain.slice(1) : chain;
    const counts = (snapshot: SnapshotSummary): Counts =>
      counted.get(`${line.history}:${snapshot.seq}`) ?? { added: snapshot.nodes, left: 0 };
    const snapshots = shown.map((one) => snapshotAnswer(one, counts(one))).reverse();
    const newest =
      before === undefined ? snapshots[0]?.cycle : (await home.snapshots(line, { limit: 1 }))[0]?.cycle;
    return {
      history: line.history,
      lineage: line.lineage,
      newest: newest ?? null,
      oldest: await oldestCycle(home, line, newest),
      working: positionAnswer(await home.position(line)),
      snapshots,
      next: hasMore ? (shown[0]?.cycle ?? null) : null,
    };
  };
};

const ascending = (list: readonly SnapshotSummary[]): readonly SnapshotSummary[] =>
  [...list].sort((a, b) => a.cycle - b.cycle);

/** Cycles of a chain have no gaps, so the oldest is found by halving; it is 1, or the cycle of an import. */
const oldestCycle = async (home: Home, line: Line, newest: number | undefined): Promise<number | null> => {
  if (newest === undefined) return null;
  const any = async (before: number): Promise<boolean> =>
    (await home.snapshots(line, { before, limit: 1 })).length > 0;
  if (!(await any(2))) {
    let low = 1;
    let high = newest;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (await any(middle + 1)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
  return (await any(1)) ? 0 : 1;
};

const snapshotAnswer = (one: SnapshotSummary, { added, left }: Counts): SnapshotAnswer => ({
  label: one.label,
  cycle: one.cycle,
  strand: one.strand,
  seq: one.seq,
  treeHash: one.treeHash,
  threadHash: one.threadHash,
  at: one.at,
  author: one.author,
  command: one.command,
  nodes: one.nodes,
  blocks: one.blocks,
  turns: one.turns,
  names: [...one.names],
  added,
  left,
});
