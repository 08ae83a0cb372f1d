import { fidelityNote, type AttemptAnswer, type SnapshotPage, type SnapshotSummaryAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { RecordedAnswer } from '../parts/recorded-answer.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { useSnapshot } from '../cycles/use-cycles.ts';
import { useQuery } from '../asking/queries.ts';
import { costWords, durationWords, grouped, isoTime, plural } from '../parts/words.ts';

/** What came of the call with a snapshot, in a few words: for a list. */
export const CallWords = ({
  call,
  attempts,
}: {
  readonly call: AttemptAnswer;
  readonly attempts: number;
}): ComponentChildren => (
  <>
    {call.status !== 'answered' && <StatusBadge call={call} />}
    <SafeText text={call.model ?? 'no model'} />
    {attempts > 1 && <span title={plural(attempts, 'attempt')}> ×{attempts}</span>} ·{' '}
    <TokenWords call={call} />
    {call.duration_ms !== null && <> · {durationWords(call.duration_ms)}</>}
  </>
);

/** Model, tokens, time, cost and end of the call with the snapshot of a cycle; nothing if none is recorded. */
export const CallBar = ({ snapshot }: { readonly snapshot: SnapshotSummaryAnswer }): ComponentChildren => {
  const { call } = snapshot;
  if (call === null) {
    return snapshot.calls === 0 ? (
      <p class="call-bar quiet">No call is recorded with this snapshot.</p>
    ) : null;
  }
  return (
    <dl class="call-bar" aria-label="The call">
      <Fact name="model">
        <SafeText text={call.model ?? 'none named'} />
      </Fact>
      <Fact name="status">
        <StatusBadge call={call} />
        {call.finish_reason !== null && (
          <span class="quiet">
            <SafeText text={call.finish_reason} />
          </span>
        )}
      </Fact>
      <Fact name="tokens">
        <TokenWords call={call} />
      </Fact>
      <Fact name="time">
        <span title={`recorded ${isoTime(call.at)}`}>{durationWords(call.duration_ms)}</span>
        {call.first_byte_ms !== null && (
          <span class="quiet">first byte {durationWords(call.first_byte_ms)}</span>
        )}
      </Fact>
      <Fact name="cost">{costWords(call) ?? <span class="quiet">not known</span>}</Fact>
      {call.fidelity !== null && (
        <Fact name="picture">
          <SafeText text={fidelityNote(call.fidelity)} />
        </Fact>
      )}
      {(snapshot.calls ?? 0) > 1 && <Fact name="attempts">{snapshot.calls}, the newest shown</Fact>}
      {call.led_to.length > 0 && (
        <Fact name="led to">
          {call.led_to.map(({ history, branchId }) => (
            <a key={`${history}:${branchId}`} href={`?h=${encodeURIComponent(addressOf(history, branchId))}`}>
              {addressOf(history, branchId)}
            </a>
          ))}
        </Fact>
      )}
      {call.error !== null && (
        <Fact name="error">
          <SafeText text={call.error.message} />
        </Fact>
      )}
    </dl>
  );
};

const addressOf = (history: string, branchId: number): string =>
  branchId === 0 ? history : `${history}:${branchId}`;

const Fact = ({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}): ComponentChildren => (
  <div class="call-fact">
    <dt class="quiet">{name}</dt>
    <dd>{children}</dd>
  </div>
);

const StatusBadge = ({ call }: { readonly call: AttemptAnswer }): ComponentChildren => (
  <span
    class={`badge call-${call.status === 'answered' ? 'good' : call.status === 'unknown' ? 'open' : 'bad'}`}
  >
    {call.status}
    {call.status !== 'answered' && call.http_status !== null && ` ${call.http_status}`}
  </span>
);

const TokenWords = ({ call: { usage } }: { readonly call: AttemptAnswer }): ComponentChildren =>
  usage === null ? (
    <span class="quiet">no tokens known</span>
  ) : (
    <span title={`${usage.cached ?? 0} from a cache, ${usage.reasoning ?? 0} of reasoning`}>
      {usage.input === null ? '?' : grouped(usage.input)} →{' '}
      {usage.output === null ? '?' : grouped(usage.output)}
    </span>
  );

/** Below a thread: what the model was shown besides, and what it answered, which is in the thread of the next call only. */
export const CallAnswer = ({
  history,
  page,
  cycle,
}: {
  readonly history: string;
  readonly page: SnapshotPage;
  readonly cycle: number;
}): ComponentChildren => {
  const call = useSnapshot(page, cycle)?.call ?? null;
  const query = useQuery(call === null ? 'none' : `now/h/${history}/attempt/${call.attempt_id}`, (client) =>
    call === null
      ? new Promise<never>(() => undefined)
      : client.attempt({ history: history.split(':')[0] ?? history, attempt: call.attempt_id }),
  );
  if (call === null || query.state !== 'done' || 'method' in query.value) return null;
  const { answer, not_shown: notShown } = query.value;
  return (
    <>
      {notShown !== null && (
        <section class="call-answer" aria-label="Not shown here">
          <h3 class="quiet">Not shown here</h3>
          <p>{`${notShown.slice(0, 1).toUpperCase()}${notShown.slice(1)}.`}</p>
        </section>
      )}
      {answer !== null && (
        <section class="call-answer" aria-label="The answer">
          <h3 class="quiet">Answered</h3>
          <RecordedAnswer answer={answer} />
        </section>
      )}
    </>
  );
};
