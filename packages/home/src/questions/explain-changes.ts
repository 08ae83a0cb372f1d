import { diffTrees } from '@stemma/context-tree';
import type { Projector } from '@stemma/projector';
import { explainDiff, readFlatTree } from '@stemma/read-models';
import type { Position } from '../place.ts';
import type { ExplainedChange } from './bisect-types.ts';
import { openFrames } from './origin.ts';

/** What is different at `b` from `a`, each entry with its causes and who brought them about (context-tree §3, §7). */
export const explainChanges = async (
  projector: Projector,
  a: Position,
  b: Position,
): Promise<readonly ExplainedChange[]> => {
  const { history } = a;
  const [older, newer] = projector.read((rows) => [
    readFlatTree(rows, history, a.strand, a.seq),
    readFlatTree(rows, history, b.strand, b.seq),
  ]);
  const { entries } = await projector.payloads.using(history, (source) =>
    projector.read((rows) =>
      explainDiff(rows, history, { a, b, diff: diffTrees(older as never, newer as never, source) }, source),
    ),
  );
  const frames = openFrames(projector, history);
  const changes: ExplainedChange[] = [];
  for (const { id, change, fields, causes } of entries) {
    const told = [];
    for (const { cause, undone, seq, index } of causes)
      told.push({ cause, undone, origin: await frames.describe({ seq, index }) });
    changes.push({ id, change, fields, causes: told });
  }
  return changes;
};
