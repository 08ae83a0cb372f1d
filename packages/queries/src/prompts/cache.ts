import { readHead, threadCourse, type Line, type ThreadStep } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import { breakCause, type Divergence } from './break-cause.ts';
import type { CacheReport, CacheStep, CacheVerdict } from './cache-types.ts';
import { openMeasures, type Counts, type Measured } from './measure.ts';
import { openFrames } from './origin.ts';

const MOST_WORST = 10;

/**
 * How much of each call on a lineage's chain a cache of prefixes could have served from the call before it. What is
 * compared is the sequence of the messages' bytes (context-tree §4), without the brackets of the list and the commas
 * between; so the sizes of a thread are those of its messages. The tokens of a message are those of its content.
 */
export const cacheReport = async (
  projector: ServedRows,
  line: Line,
  counts: Counts,
): Promise<CacheReport> => {
  const { history, strand, lineage } = line;
  const course = await projector.read((rows) => [
    ...threadCourse(rows, history, strand, readHead(rows, history, strand)),
  ]);
  const measures = await openMeasures(projector, history, counts);
  const frames = openFrames(projector, history);
  const sums = openSums();
  const steps: CacheStep[] = [];
  const sent = { messages: 0, bytes: 0, tokens: 0 };
  let previous: ThreadStep['snapshot'] | undefined;
  for (const { snapshot, at, before, after } of course) {
    const old = await measured(before, measures.measure);
    const fresh = await measured(after, measures.measure);
    const was = sums.total();
    const common = sums.cut(at);
    sums.add(fresh);
    const now = sums.total();
    for (const key of KEYS) sent[key] += now[key];
    if (previous !== undefined) {
      const [a, b] = [old.flat(), fresh.flat()];
      let same = 0;
      while (same < a.length && same < b.length && a[same]?.digest === b[same]?.digest) same++;
      const shared = sumOf(a.slice(0, same), common);
      const [first, instead] = [a[same], b[same]];
      const verdict: CacheVerdict =
        first === undefined ? 'append' : instead === undefined ? 'rewind' : 'break';
      if (first !== undefined && instead !== undefined) {
        const part = await measures.common(first, instead);
        shared.bytes += part.bytes;
        shared.tokens += part.tokens;
      }
      const stretch = { history, after: previous.seq, to: snapshot };
      steps.push({
        from: `@c${previous.cycle}`,
        to: `@c${snapshot.cycle}`,
        verdict,
        messages: { before: was.messages, after: now.messages, shared: shared.messages },
        bytes: { before: was.bytes, after: now.bytes, shared: shared.bytes },
        tokens: { before: was.tokens, after: now.tokens, shared: shared.tokens },
        broken:
          first === undefined
            ? null
            : await breakCause(projector, frames, stretch, divergence(first, instead, a, b)),
      });
    }
    previous = snapshot;
  }
  return {
    history,
    lineage,
    tokenizer: measures.tokenizer,
    calls: course.length,
    verdicts: {
      append: steps.filter(({ verdict }) => verdict === 'append').length,
      rewind: steps.filter(({ verdict }) => verdict === 'rewind').length,
      break: steps.filter(({ verdict }) => verdict === 'break').length,
    },
    messages: total(steps, sent, 'messages'),
    bytes: total(steps, sent, 'bytes'),
    tokens: total(steps, sent, 'tokens'),
    worst: worstOf(steps),
    steps,
  };
};

const KEYS = ['messages', 'bytes', 'tokens'] as const;
type Sum = Record<(typeof KEYS)[number], number>;

const measured = async (
  slices: ThreadStep['after'],
  measure: (entry: ThreadStep['after'][number][number]) => Promise<Measured>,
): Promise<Measured[][]> => {
  const lists: Measured[][] = [];
  for (const slice of slices) {
    const list: Measured[] = [];
    for (const entry of slice) list.push(await measure(entry));
    lists.push(list);
  }
  return lists;
};

const sumOf = (list: readonly Measured[], begin: Sum): Sum => {
  const sum = { ...begin };
  for (const { bytes, tokens } of list) {
    sum.messages += 1;
    sum.bytes += bytes;
    sum.tokens += tokens;
  }
  return sum;
};

/** What all slices up to each one come to, so that a step adds up only those that it changed. */
const openSums = () => {
  const sums: Sum[] = [{ messages: 0, bytes: 0, tokens: 0 }];
  const total = (): Sum => sums.at(-1) as Sum;
  return {
    total,
    /** Forgets the slices from an index on; gives what those before it come to. */
    cut: (at: number): Sum => {
      sums.length = Math.min(sums.length, at + 1);
      return total();
    },
    add: (slices: readonly (readonly Measured[])[]): void => {
      for (const slice of slices) sums.push(sumOf(slice, total()));
    },
  };
};

const divergence = (
  first: Measured,
  instead: Measured | undefined,
  old: readonly Measured[],
  fresh: readonly Measured[],
): Divergence => {
  const idOf = ({ entry }: Measured): string => entry.headers.id;
  const isIn = (list: readonly Measured[], id: string): boolean => list.some((one) => idOf(one) === id);
  return {
    old: idOf(first),
    fresh: instead === undefined ? undefined : idOf(instead),
    oldStays: isIn(fresh, idOf(first)),
    freshWas: instead !== undefined && isIn(old, idOf(instead)),
  };
};

const total = (steps: readonly CacheStep[], sent: Sum, key: keyof Sum): CacheReport['tokens'] => ({
  sent: sent[key],
  shared: steps.reduce((sum, step) => sum + step[key].shared, 0),
});

/** The steps that lost most: tokens of the call before, less those that the next one begins with. */
const worstOf = (steps: readonly CacheStep[]): number[] => {
  const lost = ({ tokens }: CacheStep): number => tokens.before - tokens.shared;
  return steps
    .map((step, i) => ({ step, i }))
    .filter(({ step }) => step.verdict === 'break')
    .sort((a, b) => lost(b.step) - lost(a.step) || a.i - b.i)
    .slice(0, MOST_WORST)
    .map(({ i }) => i);
};
