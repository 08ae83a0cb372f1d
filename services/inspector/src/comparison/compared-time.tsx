import type { AttemptAnswer, PromptSizeAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import type { ViewProps } from '../parts/page-view.ts';
import { Shown } from '../asking/states.tsx';
import { useAttempts, useSizes } from '../tree/use-sizes.ts';
import { VirtualList } from '../parts/virtual-list.tsx';
import { costWords, durationWords, grouped } from '../parts/words.ts';
import { branchOf, type ShownComparison } from './comparison-parts.tsx';
import { pointsOf, type CallPoint } from '../parts/series.ts';

type Go = ViewProps['go'];

const METRICS = [
  ['tokens', 'tokens shown', ({ tokens }: CallPoint) => tokens],
  ['messages', 'messages shown', ({ messages }: CallPoint) => messages],
  ['time', 'time of the call', ({ attempt }: CallPoint) => attempt?.duration_ms ?? null],
  ['cost', 'cost of the call', ({ attempt }: CallPoint) => costOf(attempt)],
] as const;

const costOf = (attempt: AttemptAnswer | null): number | null =>
  attempt?.cost == null ? null : Number(attempt.cost.amount);

/** The calls up to both positions in numbers, as lines over each other and as a table. */
export const ComparedTime = ({
  comparison,
  go,
}: {
  readonly comparison: ShownComparison;
  readonly go: Go;
}): ComponentChildren => {
  const a = useSide(comparison.a);
  const b = useSide(comparison.b);
  return (
    <Shown query={a.sizes} what="calls of A">
      {(sizesA) => (
        <Shown query={b.sizes} what="calls of B">
          {(sizesB) => {
            const pointsA = pointsOf(upTo(sizesA.sizes, comparison.a), a.attempts);
            const pointsB = pointsOf(upTo(sizesB.sizes, comparison.b), b.attempts);
            return (
              <div class="compared">
                <div class="small-charts">
                  {METRICS.map(([name, words, valueOf]) => (
                    <SmallChart key={name} words={words} a={pointsA.map(valueOf)} b={pointsB.map(valueOf)} />
                  ))}
                </div>
                <Table a={pointsA} b={pointsB} comparison={comparison} go={go} />
              </div>
            );
          }}
        </Shown>
      )}
    </Shown>
  );
};

const useSide = (side: ShownComparison['a']) => {
  const attempts = useAttempts(branchOf(side));
  return {
    sizes: useSizes(branchOf(side)),
    attempts: attempts.state === 'done' ? attempts.value : [],
  };
};

const upTo = (
  sizes: readonly PromptSizeAnswer[],
  { position }: ShownComparison['a'],
): readonly PromptSizeAnswer[] => sizes.filter(({ cycle }) => cycle <= (position.cycle ?? 0));

const WIDE = 300;
const HIGH = 70;

/** One metric of both sides; nothing if neither has it. */
const SmallChart = ({
  words,
  a,
  b,
}: {
  readonly words: string;
  readonly a: readonly (number | null)[];
  readonly b: readonly (number | null)[];
}): ComponentChildren => {
  const known = [...a, ...b].filter((value) => value !== null);
  if (known.length === 0) return null;
  const most = known.reduce((high, value) => Math.max(high, value), 0) || 1;
  const last = Math.max(a.length, b.length, 2) - 1;
  const lineOf = (values: readonly (number | null)[]): string =>
    values
      .flatMap((value, i) =>
        value === null
          ? []
          : [`${((i / last) * WIDE).toFixed(1)},${(HIGH - (value / most) * (HIGH - 4) - 2).toFixed(1)}`],
      )
      .join(' ');
  return (
    <figure class="small-chart">
      <figcaption class="quiet">
        {words}, at most {most < 10 ? String(most) : grouped(Math.round(most))}
      </figcaption>
      <svg viewBox={`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" aria-hidden="true">
        <polyline class="line-a" points={lineOf(a)} />
        <polyline class="line-b" points={lineOf(b)} />
      </svg>
    </figure>
  );
};

const Table = ({
  a,
  b,
  comparison,
  go,
}: {
  readonly a: readonly CallPoint[];
  readonly b: readonly CallPoint[];
  readonly comparison: ShownComparison;
  readonly go: Go;
}): ComponentChildren => {
  const cycles = [...new Set([...a, ...b].map(({ cycle }) => cycle))].sort((x, y) => x - y);
  const byCycle = (points: readonly CallPoint[]) => new Map(points.map((point) => [point.cycle, point]));
  const [inA, inB] = [byCycle(a), byCycle(b)];
  const hasCosts = [...a, ...b].some(({ attempt }) => attempt?.cost != null);
  return (
    <section class="panel compared-table" aria-label="Calls of both sides">
      <div class="table-head quiet" aria-hidden="true">
        <span>call</span>
        <span>tokens A</span>
        <span>tokens B</span>
        <span>messages A</span>
        <span>messages B</span>
        <span>time A</span>
        <span>time B</span>
        {hasCosts && (
          <>
            <span>cost A</span>
            <span>cost B</span>
          </>
        )}
      </div>
      <VirtualList
        label="Calls of both sides, oldest first"
        count={cycles.length}
        rowHeight={26}
        selected={-1}
        row={(i) => {
          const cycle = cycles[i] ?? 0;
          const [x, y] = [inA.get(cycle), inB.get(cycle)];
          const at = `@c${cycle}`;
          // Two histories share no snapshot, though the numbers of frames may be the same.
          const isSame =
            comparison.mergeBase !== null &&
            x !== undefined &&
            y !== undefined &&
            x.seq === y.seq &&
            x.branchId === y.branchId;
          return (
            <button
              class={`table-row${isSame ? ' quiet' : ''}`}
              role="option"
              aria-selected={false}
              tabIndex={-1}
              title={isSame ? 'the same snapshot' : 'Show it in its context'}
              onClick={() =>
                go({ show: null, history: branchOf(x === undefined ? comparison.b : comparison.a), at })
              }
            >
              <b>{at}</b>
              <span>{x === undefined ? '' : grouped(x.tokens)}</span>
              <span>{y === undefined ? '' : grouped(y.tokens)}</span>
              <span>{x === undefined ? '' : grouped(x.messages)}</span>
              <span>{y === undefined ? '' : grouped(y.messages)}</span>
              <span>{x?.attempt == null ? '' : durationWords(x.attempt.duration_ms)}</span>
              <span>{y?.attempt == null ? '' : durationWords(y.attempt.duration_ms)}</span>
              {hasCosts && (
                <>
                  <span>{costWords(x?.attempt)}</span>
                  <span>{costWords(y?.attempt)}</span>
                </>
              )}
            </button>
          );
        }}
      />
    </section>
  );
};
