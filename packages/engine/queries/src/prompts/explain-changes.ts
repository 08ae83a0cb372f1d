import type { Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { explainDiff } from '@stemma/read-models';
import type { Origin } from '../origin-types.ts';
import { diffTreesAt } from '../selection/diff-trees-at.ts';
import type { ExplainedChange } from './bisect-types.ts';
import { openFrames } from './origin.ts';

/** The differences of `b` from `a`, each entry with its causes and their authors (context-tree §3, §7). */
export const explainChanges = async (
  projection: Projection,
  a: Position,
  b: Position,
): Promise<readonly ExplainedChange[]> => {
  const { history } = a;
  const diff = await diffTreesAt(projection, a, b);
  const { entries } = await projection.payloads.using(history, (source) =>
    projection.read((rows) => explainDiff(rows, history, { a, b, diff }, source)),
  );
  const frames = openFrames(projection, history);
  const origins = await frames.describe(entries.flatMap(({ causes }) => causes));
  let next = 0;
  return entries.map(({ id, change, fields, causes }) => ({
    id,
    change,
    fields,
    causes: causes.map(({ cause, undone }) => ({ cause, undone, origin: origins[next++] as Origin })),
  }));
};
