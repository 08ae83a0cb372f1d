import { readThreadTimeline, readTipSeq, type BranchRef, type ThreadStep } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { findBreakCause, type ThreadDivergence } from './break-cause.ts';
import type { CacheReport, CacheStep, CacheVerdict } from './cache-types.ts';
import { openMeasures, type Counts, type MeasuredMessage } from './measure.ts';
import { openFrames } from './origin.ts';
import type { CallRow } from '@stemma/read-models';
import { newestCallWith, toolChanges } from '../calls/request-facts.ts';

const MAX_WORST = 10;

/**
 * How much of each call on a branch's ancestor path a prefix cache could have served from the call before it. The
 * report compares the sequences of the messages' bytes (context-tree §4), without the brackets of the list and the
 * commas; so the size of a thread is the sum of its messages. The tokens of a message are those of its content.
 */
export const buildCacheReport = async (
  projection: Projection,
  branchRef: BranchRef,
  counts: Counts,
): Promise<CacheReport> => {
  const { history, branchId, branch } = branchRef;
  const threadTimeline = await projection.read((rows) => [
    ...readThreadTimeline(rows, history, branchId, readTipSeq(rows, history, branchId)),
  ]);
  const measures = await openMeasures(projection, history, counts);
  const frames = openFrames(projection, history);
  const sums = openRunningSums();
  const steps: CacheStep[] = [];
  const sent = { messages: 0, bytes: 0, tokens: 0 };
  let previous: ThreadStep['snapshot'] | undefined;
  let called: CallRow | undefined;
  for (const [i, { snapshot, firstChanged: at, before, after }] of threadTimeline.entries()) {
    await measures.countSteps(threadTimeline, i);
    const old = await measureSlices(before, measures.measure);
    const fresh = await measureSlices(after, measures.measure);
    const totalBefore = sums.total();
    const common = sums.truncate(at);
    sums.add(fresh);
    const totalNow = sums.total();
    for (const key of KEYS) sent[key] += totalNow[key];
    if (previous === undefined) called = await newestCallWith(projection, history, snapshot.seq);
    else {
      const [a, b] = [old.flat(), fresh.flat()];
      let sharedCount = 0;
      while (
        sharedCount < a.length &&
        sharedCount < b.length &&
        a[sharedCount]?.digest === b[sharedCount]?.digest
      )
        sharedCount++;
      const shared = sumOf(a.slice(0, sharedCount), common);
      const [first, replacement] = [a[sharedCount], b[sharedCount]];
      const now = await newestCallWith(projection, history, snapshot.seq);
      const tools =
        called === undefined || now === undefined ? [] : await toolChanges(projection, history, called, now);
      called = now;
      if (tools.length > 0) Object.assign(shared, NOTHING);
      const verdict: CacheVerdict =
        tools.length > 0
          ? 'break'
          : first === undefined
            ? 'append'
            : replacement === undefined
              ? 'rewind'
              : 'break';
      if (first !== undefined && replacement !== undefined && tools.length === 0) {
        const commonPart = await measures.common(first, replacement);
        shared.bytes += commonPart.bytes;
        shared.tokens += commonPart.tokens;
      }
      const range = { history, after: previous.seq, to: snapshot };
      steps.push({
        from: `@c${previous.cycle}`,
        to: `@c${snapshot.cycle}`,
        verdict,
        messages: { before: totalBefore.messages, after: totalNow.messages, shared: shared.messages },
        bytes: { before: totalBefore.bytes, after: totalNow.bytes, shared: shared.bytes },
        tokens: { before: totalBefore.tokens, after: totalNow.tokens, shared: shared.tokens },
        tools,
        cached: now?.finished?.usage?.cached ?? null,
        broken:
          first === undefined || tools.length > 0
            ? null
            : await findBreakCause(projection, frames, range, divergenceOf(first, replacement, a, b)),
      });
    }
    previous = snapshot;
  }
  return {
    history,
    branch,
    branchId,
    tokenizer: measures.tokenizer,
    calls: threadTimeline.length,
    verdicts: {
      append: steps.filter(({ verdict }) => verdict === 'append').length,
      rewind: steps.filter(({ verdict }) => verdict === 'rewind').length,
      break: steps.filter(({ verdict }) => verdict === 'break').length,
    },
    messages: total(steps, sent, 'messages'),
    bytes: total(steps, sent, 'bytes'),
    tokens: total(steps, sent, 'tokens'),
    worst: worstSteps(steps),
    steps,
  };
};

const NOTHING = { messages: 0, bytes: 0, tokens: 0 };

const KEYS = ['messages', 'bytes', 'tokens'] as const;
type Sum = Record<(typeof KEYS)[number], number>;

const measureSlices = async (
  slices: ThreadStep['after'],
  measure: (entry: ThreadStep['after'][number][number]) => Promise<MeasuredMessage>,
): Promise<MeasuredMessage[][]> => {
  const lists: MeasuredMessage[][] = [];
  for (const slice of slices) {
    const list: MeasuredMessage[] = [];
    for (const entry of slice) list.push(await measure(entry));
    lists.push(list);
  }
  return lists;
};

const sumOf = (list: readonly MeasuredMessage[], start: Sum): Sum => {
  const sum = { ...start };
  for (const { bytes, tokens } of list) {
    sum.messages += 1;
    sum.bytes += bytes;
    sum.tokens += tokens;
  }
  return sum;
};

/** Running sums over slices, so that a step adds up only those that it changed. */
const openRunningSums = () => {
  const sums: Sum[] = [{ messages: 0, bytes: 0, tokens: 0 }];
  const total = (): Sum => sums.at(-1) as Sum;
  return {
    total,
    /** Drops the slices from an index on; returns the sum of those before it. */
    truncate: (at: number): Sum => {
      sums.length = Math.min(sums.length, at + 1);
      return total();
    },
    add: (slices: readonly (readonly MeasuredMessage[])[]): void => {
      for (const slice of slices) sums.push(sumOf(slice, total()));
    },
  };
};

const divergenceOf = (
  first: MeasuredMessage,
  replacement: MeasuredMessage | undefined,
  old: readonly MeasuredMessage[],
  fresh: readonly MeasuredMessage[],
): ThreadDivergence => {
  const idOf = ({ entry }: MeasuredMessage): string => entry.headers.id;
  const isIn = (list: readonly MeasuredMessage[], id: string): boolean =>
    list.some((one) => idOf(one) === id);
  return {
    old: idOf(first),
    fresh: replacement === undefined ? undefined : idOf(replacement),
    oldRemains: isIn(fresh, idOf(first)),
    freshWasThere: replacement !== undefined && isIn(old, idOf(replacement)),
  };
};

const total = (steps: readonly CacheStep[], sent: Sum, key: keyof Sum): CacheReport['tokens'] => ({
  sent: sent[key],
  shared: steps.reduce((sum, step) => sum + step[key].shared, 0),
});

/** The steps that lost most: the tokens of the call before, less those of the common prefix. */
const worstSteps = (steps: readonly CacheStep[]): number[] => {
  const lost = ({ tokens }: CacheStep): number => tokens.before - tokens.shared;
  return steps
    .map((step, i) => ({ step, i }))
    .filter(({ step }) => step.verdict === 'break')
    .sort((a, b) => lost(b.step) - lost(a.step) || a.i - b.i)
    .slice(0, MAX_WORST)
    .map(({ i }) => i);
};
