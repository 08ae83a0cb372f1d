import { diffTrees, type FlatTree } from '@stemma/context-tree';
import { readFlatTree, type Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { readDiffCandidates, type ReadChanges } from '@stemma/read-models';
import type { DiffResult } from '../read-types.ts';
import { changesBetween, lacksDiffs, readFrameChanges } from './changes-from-frames.ts';

type DiffSides = { readonly older: FlatTree; readonly newer: FlatTree; readonly ids?: ReadonlySet<string> };

/** Where rows name too much, so few frames are read to see whether they name less. */
const FEW_FRAMES = 64;

/**
 * The parts of two positions of one history that their diff needs, `a` as the older one: what can have changed if they
 * are close together, else both trees. What rows cannot say, because they are not folded yet or because much ends with a cycle, is read from the
 * frames between the positions.
 */
const readSides = async (projection: Projection, a: Position, b: Position): Promise<DiffSides> => {
  const { history } = a;
  const candidates = (changes?: ReadChanges): Promise<DiffSides | undefined> =>
    projection.read((rows) => readDiffCandidates(rows, history, { a, b }, { changes }));
  const byFrames = async (most?: number): Promise<DiffSides | undefined> => {
    const found = await readFrameChanges(projection, history, { a, b }, most);
    return found && candidates(changesBetween(found));
  };
  const near = (await lacksDiffs(projection, history)) ? await byFrames() : undefined;
  return (
    near ??
    (await candidates()) ??
    (await byFrames(FEW_FRAMES)) ??
    projection.read((rows) => ({
      older: readFlatTree(rows, history, a.branchId, a.seq),
      newer: readFlatTree(rows, history, b.branchId, b.seq),
    }))
  );
};

/** The difference of two positions of one history (context-tree §7), restricted to some ids if they are given. */
export const diffTreesAt = async (
  projection: Projection,
  a: Position,
  b: Position,
  only?: ReadonlySet<string>,
): Promise<DiffResult> => {
  const { older, newer, ids } = await readSides(projection, a, b);
  const wanted = only === undefined || ids === undefined ? (only ?? ids) : intersection(ids, only);
  return projection.payloads.using(a.history, (source) => diffTrees(older, newer, source, wanted));
};

const intersection = (a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...a].filter((id) => b.has(id)));
