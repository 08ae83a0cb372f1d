import type { ComponentChildren } from 'preact';
import type { Go } from '../page/address.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { timeLeft, useHeld } from './use-held.ts';
import { isoTime } from '../parts/words.ts';

const THEN = { 'go-on': 'it goes on', abort: 'it ends' } as const;

/** The calls of a history that wait before they go out, and what lets them go; nothing if none does. */
export const HeldBar = ({
  history,
  go,
}: {
  readonly history: string;
  readonly go: Go;
}): ComponentChildren => {
  const calls = useHeld(history.split(':')[0] ?? history);
  if (calls.length === 0) return null;
  return (
    <ul class="held-bar" aria-label="Held calls">
      {calls.map((call) => (
        <li key={call.attempt_id}>
          <span class="badge call-open">held</span> the call of cycle {call.cycle} to{' '}
          <SafeText text={call.model ?? 'no named model'} />, by{' '}
          <SafeText text={call.breakpoints.join(', ')} />{' '}
          <span class="quiet">
            until {isoTime(call.until)}, {timeLeft(call.until, Date.now())} left, then {THEN[call.then]}
          </span>{' '}
          <span class="tabs">
            <button class="plain" onClick={() => go({ history: call.branch, at: 'open', dialog: 'release' })}>
              Resume or stop…
            </button>
            <button class="plain" onClick={() => go({ history: call.branch, at: 'open', dialog: 'inject' })}>
              Inject…
            </button>
            <button class="plain" onClick={() => go({ history: call.branch, at: 'open' })}>
              Look and edit
            </button>
          </span>
          <code>
            stemma resume <SafeText text={call.branch} />
          </code>
        </li>
      ))}
    </ul>
  );
};
