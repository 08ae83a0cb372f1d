import { diffTrees, type FlatTree } from '@stemma/context-tree';
import { readFlatTree, type Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { readDiffCandidates } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import type { DiffResult } from '../read-types.ts';

type DiffSides = { readonly older: FlatTree; readonly newer: FlatTree; readonly ids?: ReadonlySet<string> };

/**
 * The parts of two positions of one history that their diff needs, `a` as the older one: what can have changed if they
 * are close together, else both trees.
 */
const readSides = (rows: RowReader, a: Position, b: Position): DiffSides =>
  readDiffCandidates(rows, a.history, { a, b }) ?? {
    older: readFlatTree(rows, a.history, a.branchId, a.seq),
    newer: readFlatTree(rows, b.history, b.branchId, b.seq),
  };

/** The difference of two positions of one history (context-tree §7), restricted to some ids if they are given. */
export const diffTreesAt = async (
  projection: Projection,
  a: Position,
  b: Position,
  only?: ReadonlySet<string>,
): Promise<DiffResult> => {
  const { older, newer, ids } = await projection.read((rows) => readSides(rows, a, b));
  const wanted = only === undefined || ids === undefined ? (only ?? ids) : intersection(ids, only);
  return projection.payloads.using(a.history, (source) => diffTrees(older, newer, source, wanted));
};

const intersection = (a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...a].filter((id) => b.has(id)));
