import { isStemmaError } from '@stemma/errors';
import { HISTORY_HEADS, positionOfFrame, readTipSeq, type Position } from '@stemma/history-store';
import { checkRowCounts, type Projection, type Projector } from '@stemma/projector';
import { checkSnapshotRows, resolvePosition } from '@stemma/queries';
import { listBranches } from '@stemma/read-models';
import { listRows, type RowReader, type Scan, type Table } from '@stemma/row-store';

/** Which rows to check. */
export type RowsToVerify = 'sample' | 'all';

export type VerifiedRows = {
  /** The number of rows that were checked. */
  readonly rows: number;
  /** Sentences about damage that could not be repaired. */
  readonly damage: readonly string[];
};

/** Of each table, and how many histories whose newest snapshots are compared with their hashes. */
const SAMPLED_ROWS = 5_000;
const SAMPLED_HISTORIES = 20;

/**
 * Reads rows, whose checksums are compared then, and the newest snapshot of each branch, whose hash is: so rows are noticed
 * that are missing altogether. What is damaged is built again on the way, and those who build it say so.
 */
export const verifyRows = async (
  projection: Projection,
  projectors: readonly Projector[],
  which: RowsToVerify,
  random: () => number,
): Promise<VerifiedRows> => {
  const damage: string[] = [];
  const noting = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      // The check of the contents reports a content that cannot be read.
      if (isStemmaError(error, 'E_CONTENT_MISSING') || isStemmaError(error, 'E_CONTENT_DAMAGED')) return;
      if (!isStemmaError(error, 'E_ROWS_DAMAGED')) throw error;
      damage.push(error.message);
    }
  };
  const most = which === 'all' ? Infinity : SAMPLED_ROWS;
  let rows = 0;
  for (const projector of projectors)
    await noting(() =>
      projector.scan(async (scan, tables) => {
        let count = 0;
        for (const table of tables) count += await countRows(scan, table, most);
        if (which === 'all') await checkRowCounts(scan, projector.options.models);
        rows += count;
      }),
    );
  const histories = await projection.read((view) =>
    listRows(view, HISTORY_HEADS, {}).map(({ history }) => history),
  );
  const chosen = which === 'all' ? histories : sampleOf(histories, SAMPLED_HISTORIES, random);
  for (const history of chosen)
    for (const position of await projection.read((view) => newestSnapshots(view, history)))
      await noting(() => checkSnapshotRows(projection, position));
  return { rows, damage };
};

const countRows = async (scan: Scan, table: Table, most: number): Promise<number> => {
  let rows = 0;
  for await (const _row of scan.entries(table)) if (++rows >= most) break;
  return rows;
};

/** The newest snapshot of each branch that made one itself. */
const newestSnapshots = (rows: RowReader, history: string): readonly Position[] =>
  listBranches(rows, history).flatMap(({ branchId }) => {
    if (readTipSeq(rows, history, branchId) === branchId && branchId !== 0) return [];
    try {
      const { branchId: owner, seq } = resolvePosition(rows, history, branchId, { kind: 't', value: 0 });
      return owner === branchId ? [positionOfFrame(rows, history, branchId, seq)] : [];
    } catch (error) {
      if (isStemmaError(error, 'E_SNAPSHOT_NOT_FOUND')) return [];
      throw error;
    }
  });

const sampleOf = <T>(all: readonly T[], count: number, random: () => number): readonly T[] =>
  all.length <= count
    ? all
    : Array.from({ length: count }, () => all[Math.floor(random() * all.length)] as T);
