import { contentHash, NODE_KIND, threadParts, type Diff, type FlatTree } from '@stemma/context-tree';
import type { Position, TreeView } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import { explainDiff, type WayMoment } from '@stemma/read-models';
import type { ByteRange } from '../prompts/types.ts';
import { viewOf } from '../read.ts';
import { diffNear } from '../selection/diff-near.ts';
import { openTeller } from './teller.ts';
import type { ExplainedDiff, ExplainedDiffEntry, ToldCause } from './types.ts';

/** The difference of two positions with the causes of each entry, the moves it may hold, and where it is in both threads. */
export const explainPositions = async (
  projector: ServedRows,
  a: Position,
  b: Position,
): Promise<ExplainedDiff> => {
  const { history } = a;
  const [older, newer] = [await viewOf(projector, a), await viewOf(projector, b)];
  const diff = await diffNear(projector, a, b);
  const explained = await projector.payloads.using(history, (source) =>
    projector.read((rows) => explainDiff(rows, history, { a, b, diff }, source)),
  );
  const tell = openTeller(projector, history);
  const told = async (moment: WayMoment): Promise<ToldCause> => {
    const { fields, undone } = moment;
    return { ...(await tell(moment)), fields, undone };
  };
  const [rangeInA, rangeInB] = [rangesOf(older), rangesOf(newer)];
  const entries: ExplainedDiffEntry[] = [];
  for (const { id, change, fields, causes } of explained.entries) {
    const each: ToldCause[] = [];
    for (const cause of causes) each.push(await told(cause));
    entries.push({ id, change, fields, causes: each, bytes: { a: rangeInA(id), b: rangeInB(id) } });
  }
  const { strand, limit, cycle } = explained.common;
  return {
    ...diff,
    a,
    b,
    common: { strand, seq: limit, cycle },
    entries,
    moves: movesIn(diff, older, newer),
  };
};

/** Where nodes are in the provider thread: what holds blocks is there from the first to the last of them. */
const rangesOf = ({ tree, payloads, thread }: TreeView): ((id: string) => ByteRange | null) => {
  const from = new Map<number, number>();
  const to = new Map<number, number>();
  for (const part of threadParts(tree, payloads, thread).parts) {
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

/** Removed and added blocks of equal content, each in one pair at the most, in canonical order (PACT 05 §4.5). */
const movesIn = (diff: Diff, older: TreeView, newer: TreeView): ExplainedDiff['moves'] => {
  const waiting = new Map<string, string[]>();
  for (const id of diff.removed) {
    const hash = hashOf(older, id);
    if (hash !== undefined) waiting.set(hash, [...(waiting.get(hash) ?? []), id]);
  }
  return diff.added.flatMap((to) => {
    const hash = hashOf(newer, to);
    const from = hash === undefined ? undefined : waiting.get(hash)?.shift();
    return from === undefined || hash === undefined ? [] : [{ from, to, contentHash: hash }];
  });
};

const hashOf = ({ tree, payloads }: TreeView, id: string): string | undefined => {
  const index = tree.indexOf(id);
  if (index === undefined || tree.kinds[index] !== NODE_KIND.block) return undefined;
  const ref = tree.payloads[index] ?? null;
  return contentHash(tree.headers[index] as FlatTree['headers'][number], ref === null ? {} : payloads(ref));
};
