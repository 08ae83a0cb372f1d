import { contentHash, NODE_KIND, type FlatTree, type TreeDiff } from '@stemma/context-tree';
import { readNode, type Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { explainDiff, type DiffCause } from '@stemma/read-models';
import { openFrames, type Frames } from '../prompts/origin.ts';
import type { ByteRange } from '../prompts/types.ts';
import { diffTreesAt } from '../selection/diff-trees-at.ts';
import { openThreadReader, type ThreadWindow } from '../threads/thread-part.ts';
import { openTimelineFormatter } from './timeline-formatter.ts';
import type { DiffCauseDescription, ExplainedDiff, ExplainedDiffEntry } from './types.ts';

/** The difference of two positions with the causes of each entry, possible moves, and the bytes in both threads. */
export const explainPositions = async (
  projection: Projection,
  a: Position,
  b: Position,
): Promise<ExplainedDiff> => {
  const { history } = a;
  const diff = await diffTreesAt(projection, a, b);
  const frames = openFrames(projection, history);
  const changed = diff.changed.map(({ id }) => id);
  const older = await readThreadWith(projection, frames, a, [...diff.removed, ...changed]);
  const newer = await readThreadWith(projection, frames, b, [...diff.added, ...changed]);
  const explained = await projection.payloads.using(history, (source) =>
    projection.read((rows) => explainDiff(rows, history, { a, b, diff }, source)),
  );
  const describe = openTimelineFormatter(projection, history);
  const describeCause = async (entry: DiffCause): Promise<DiffCauseDescription> => {
    const { fields, undone } = entry;
    return { ...(await describe(entry)), fields, undone };
  };
  const [rangeInA, rangeInB] = [rangesOf(older), rangesOf(newer)];
  const entries: ExplainedDiffEntry[] = [];
  for (const { id, change, fields, causes } of explained.entries) {
    const descriptions: DiffCauseDescription[] = [];
    for (const cause of causes) descriptions.push(await describeCause(cause));
    entries.push({ id, change, fields, causes: descriptions, bytes: { a: rangeInA(id), b: rangeInB(id) } });
  }
  const { branchId, limit, cycle } = explained.mergeBase;
  return {
    ...diff,
    a,
    b,
    mergeBase: { branchId, seq: limit, cycle },
    entries,
    moves: movesIn(diff, older, newer),
  };
};

/** The thread from the first of some nodes on: before it nothing of them is shown. */
const readThreadWith = async (
  projection: Projection,
  frames: Frames,
  position: Position,
  ids: readonly string[],
): Promise<ThreadWindow> => {
  const { history, branchId, seq } = position;
  const thread = openThreadReader(projection, frames, position, { ids });
  const first = await projection.read((rows) => {
    let from = Infinity;
    for (const id of ids) {
      const found = readNode(rows, history, branchId, seq, id);
      if (found === undefined) continue;
      // A region shows everything in it, and what is under `^sys` comes first.
      const location = found.kind === 'fixed' ? null : found.record.location;
      from = Math.min(from, location?.kind === 'turn' ? location.cycle : -1);
    }
    return from;
  });
  return first < 0 ? thread.whole() : thread.from(first);
};

/** The byte ranges of nodes in the provider thread: a container's range is from its first block to its last. */
const rangesOf = ({ tree, parts }: ThreadWindow): ((id: string) => ByteRange | null) => {
  const from = new Map<number, number>();
  const to = new Map<number, number>();
  for (const part of parts) {
    for (let i = part.index ?? -1; i >= 0; i = tree.parents[i] as number) {
      if (!from.has(i)) from.set(i, part.from);
      to.set(i, part.to);
    }
  }
  return (id) => {
    const index = tree.indexOf(id) ?? -1;
    const [first, last] = [from.get(index), to.get(index)];
    return first === undefined || last === undefined ? null : { from: first, to: last };
  };
};

/**
 * Pairs of a removed and an added block of equal content, each in one pair at most, in canonical order (PACT 05
 * §4.5).
 */
const movesIn = (diff: TreeDiff, older: ThreadWindow, newer: ThreadWindow): ExplainedDiff['moves'] => {
  const unpaired = new Map<string, string[]>();
  for (const id of diff.removed) {
    const hash = hashOf(older, id);
    if (hash !== undefined) unpaired.set(hash, [...(unpaired.get(hash) ?? []), id]);
  }
  return diff.added.flatMap((to) => {
    const hash = hashOf(newer, to);
    const from = hash === undefined ? undefined : unpaired.get(hash)?.shift();
    return from === undefined || hash === undefined ? [] : [{ from, to, contentHash: hash }];
  });
};

const hashOf = ({ tree, payloads }: ThreadWindow, id: string): string | undefined => {
  const index = tree.indexOf(id);
  if (index === undefined || tree.kinds[index] !== NODE_KIND.block) return undefined;
  const ref = tree.payloads[index] ?? null;
  return contentHash(tree.headers[index] as FlatTree['headers'][number], ref === null ? {} : payloads(ref));
};
