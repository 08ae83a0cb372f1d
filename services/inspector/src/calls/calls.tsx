import type { AttemptAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { SafeText, visible } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import '../style/more-views.css';
import { useAttempts } from '../tree/use-sizes.ts';
import { VirtualList } from '../parts/virtual-list.tsx';
import { costWords, durationWords, grouped, isoTime, plural, shortTime } from '../parts/words.ts';
import { foldPauses } from '../time/fold-pauses.ts';
import type { PageView, ViewProps } from '../parts/page-view.ts';

const isGood = ({ status }: AttemptAnswer): boolean => status === 'answered' || status === 'unknown';

/** The attempts to call a model, one below the other: when each began, how long it took, how it ended. */
export const View: PageView = ({ address, looking, go }) => (
  <div class="view-column">
    <Shown query={useAttempts(address.history)} what="calls">
      {(attempts) =>
        attempts.length === 0 ? (
          <div class="note">
            <p>
              No call to a model is recorded on this branch: an imported conversation says what was shown, not
              how long it took.
            </p>
            <pre>
              ./stemma record --history <SafeText text={address.history} /> -- python agent.py
            </pre>
          </div>
        ) : (
          <Waterfall attempts={attempts} cycle={looking?.cycle ?? null} go={go} />
        )
      }
    </Shown>
  </div>
);

const Waterfall = ({
  attempts,
  cycle,
  go,
}: {
  readonly attempts: readonly AttemptAnswer[];
  readonly cycle: number | null;
  readonly go: ViewProps['go'];
}): ComponentChildren => {
  const [onlyBad, setOnlyBad] = useState(false);
  const shown = onlyBad ? attempts.filter((one) => !isGood(one)) : attempts;
  const begin = attempts.reduce((least, { at }) => Math.min(least, at), Infinity);
  const end = attempts.reduce(
    (most, { at, duration_ms: took }) => Math.max(most, at + (took ?? 0)),
    begin + 1,
  );
  const line = foldPauses(attempts.map(({ at, duration_ms: took }) => ({ at, took: took ?? 0 })));
  const startOf = new Map(attempts.map(({ attempt_id: id }, i) => [id, line.starts[i] ?? 0]));
  const counts = new Map<number, number>();
  const numberOf = new Map<string, number>();
  for (const { cycle: of, attempt_id: id } of attempts) {
    counts.set(of, (counts.get(of) ?? 0) + 1);
    numberOf.set(id, counts.get(of) ?? 1);
  }
  const sum = (of: (one: AttemptAnswer) => number | null | undefined): number =>
    attempts.reduce((all, one) => all + (of(one) ?? 0), 0);
  // A refused call took no tokens; of one that was cut nobody knows how many.
  const isWhole = attempts.every(
    ({ usage, http_status: status }) =>
      (status ?? 0) >= 400 || (usage?.input != null && usage.output != null),
  );
  return (
    <section class="panel fills" aria-label="Calls">
      <header class="panel-head">
        <h2>{plural(attempts.length, 'call')}</h2>
        <button class="toggle" aria-pressed={onlyBad} onClick={() => setOnlyBad(!onlyBad)}>
          Only failed ones ({grouped(attempts.filter((one) => !isGood(one)).length)})
        </button>
      </header>
      <p class="side-facts quiet">
        {isWhole ? '' : 'at least '}
        {grouped(sum(({ usage }) => usage?.input))} → {grouped(sum(({ usage }) => usage?.output))} tokens,{' '}
        {durationWords(sum(({ duration_ms: took }) => took))} of calls in {durationWords(end - begin)}
      </p>
      <VirtualList
        label="Calls, oldest first"
        count={shown.length}
        rowHeight={30}
        selected={shown.findIndex((one) => one.cycle === cycle)}
        row={(i) => {
          const one = shown[i];
          if (one === undefined) return null;
          const width = ((one.duration_ms ?? 0) / line.length) * 100;
          const left = ((startOf.get(one.attempt_id) ?? 0) / line.length) * 100;
          const first = ((one.first_byte_ms ?? 0) / Math.max(1, one.duration_ms ?? 1)) * 100;
          return (
            <button
              class="table-row call-row"
              role="option"
              aria-selected={one.cycle === cycle}
              tabIndex={-1}
              title={`${isoTime(one.at)}\n${visible(one.error?.message ?? one.finish_reason ?? one.status)}`}
              onClick={() => go({ show: null, at: one.label })}
            >
              <b>{one.label}</b>
              <span class={`badge call-${isGood(one) ? 'good' : 'bad'}`}>
                {one.status}
                {!isGood(one) && one.http_status !== null && ` ${one.http_status}`}
              </span>
              <span class="call-model">
                <SafeText text={one.model ?? 'no model'} />
                {(numberOf.get(one.attempt_id) ?? 1) > 1 && ` attempt ${numberOf.get(one.attempt_id) ?? 1}`}
                {(one.choices ?? 1) > 1 && ` 1 of ${one.choices ?? 1} choices`}
                {one.error !== null && (
                  <>
                    {' '}
                    <SafeText text={one.error.message} />
                  </>
                )}
              </span>
              <span>
                {one.usage === null
                  ? ''
                  : `${grouped(one.usage.input ?? 0)} → ${grouped(one.usage.output ?? 0)}`}
              </span>
              <span>{costWords(one)}</span>
              <span>{durationWords(one.duration_ms)}</span>
              <span class="call-line" aria-hidden="true">
                <span
                  class={`call-length${isGood(one) ? '' : ' is-bad'}`}
                  style={{ left: `min(${left}%, 100% - 3px)`, width: `max(3px, ${width}%)` }}
                >
                  <span class="call-waits" style={{ width: `${Math.min(100, first)}%` }} />
                </span>
              </span>
            </button>
          );
        }}
      />
      <p class="side-facts quiet">
        <span>
          from {shortTime(begin)}; light: until the first byte.
          {line.folded > 0 && ` ${plural(line.folded, 'pause is', 'pauses are')} shortened.`}{' '}
          <code>stemma calls</code> prints the same.
        </span>
      </p>
    </section>
  );
};
