import type { Position } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import { explainDiff } from '@stemma/read-models';
import type { Origin } from '../origin-types.ts';
import { diffNear } from '../selection/diff-near.ts';
import type { ExplainedChange } from './bisect-types.ts';
import { openFrames } from './origin.ts';

/** What is different at `b` from `a`, each entry with its causes and who brought them about (context-tree §3, §7). */
export const explainChanges = async (
  projector: ServedRows,
  a: Position,
  b: Position,
): Promise<readonly ExplainedChange[]> => {
  const { history } = a;
  const diff = await diffNear(projector, a, b);
  const { entries } = await projector.payloads.using(history, (source) =>
    projector.read((rows) => explainDiff(rows, history, { a, b, diff }, source)),
  );
  const frames = openFrames(projector, history);
  const origins = await frames.describe(entries.flatMap(({ causes }) => causes));
  let next = 0;
  return entries.map(({ id, change, fields, causes }) => ({
    id,
    change,
    fields,
    causes: causes.map(({ cause, undone }) => ({ cause, undone, origin: origins[next++] as Origin })),
  }));
};
