import type { ComponentChildren } from 'preact';
import { SafeText } from './safe-text.tsx';
import { useQuery } from './use-query.ts';
import { isoTime } from './words.ts';

const THEN = { 'go-on': 'it goes on', abort: 'it ends' } as const;

/** The calls of a history that wait before they go out, and what lets them go; nothing if none does. */
export const HeldBar = ({ history }: { readonly history: string }): ComponentChildren => {
  const query = useQuery(`now/h/${history}/held`, (client) =>
    client.held({ history: history.split(':')[0] ?? history }),
  );
  const calls = query.state === 'done' ? query.value.calls : [];
  if (calls.length === 0) return null;
  return (
    <ul class="held-bar" aria-label="Held calls">
      {calls.map((call) => (
        <li key={call.attempt_id}>
          <span class="badge call-open">held</span> the call of cycle {call.cycle} to{' '}
          <SafeText text={call.model ?? 'no named model'} />, by{' '}
          <SafeText text={call.breakpoints.join(', ')} />{' '}
          <span class="quiet">
            until {isoTime(call.until)}, then {THEN[call.then]}
          </span>{' '}
          <code>
            stemma resume <SafeText text={call.branch} />
          </code>
        </li>
      ))}
    </ul>
  );
};
