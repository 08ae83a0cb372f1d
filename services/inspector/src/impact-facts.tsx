import type { Impact, Intervention } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Go } from './address.ts';
import { PlaceLink } from './places.tsx';
import { SafeText } from './safe-text.tsx';
import { Shown } from './states.tsx';
import { useLineages } from './use-lineages.ts';
import { useQuery } from './use-query.ts';
import { grouped, plural } from './words.ts';

const FIRST = 30;
const MORE = 300;

/** What an intervention led to: the calls that were shown what it brought in, or what was made of it. */
export const ImpactFacts = ({
  history,
  act,
  go,
}: {
  readonly history: string;
  readonly act: Intervention;
  readonly go: Go;
}): ComponentChildren => {
  const query = useQuery(`now/h/${history}/impact/${act.id}`, (client) =>
    client.impact({ history, id: act.id }),
  );
  return (
    <section class="impact" aria-label="Impact">
      <h3>What it led to</h3>
      <Shown query={query} what="impact">
        {(impact) => <Calls impact={impact} act={act} go={go} />}
      </Shown>
    </section>
  );
};

const Calls = ({
  impact: { brought, calls, counts, lost, lineages },
  act,
  go,
}: {
  readonly impact: Impact;
  readonly act: Intervention;
  readonly go: Go;
}): ComponentChildren => {
  const [shown, setShown] = useState(FIRST);
  const names = useLineages(act.history);
  const nameOf = (strand: number): string =>
    (names.state === 'done' ? names.value.lineages.find((one) => one.strand === strand)?.name : null) ??
    `:${strand}`;
  const many = lineages.length > 1;
  return (
    <>
      <p>
        {brought.length === 0 && lost.length === 0 ? (
          'It brought no block in and took none out.'
        ) : counts.calls === 0 && lost.every((one) => one.calls.length === 0) ? (
          'No call of a model was touched by it.'
        ) : (
          <>
            <b>{plural(counts.calls, 'call')}</b> saw it: <b>{grouped(counts.direct)}</b> what it brought in,{' '}
            <b>{grouped(counts.derived)}</b> only what was made of it.
          </>
        )}
      </p>
      {calls.length > 0 && (
        <ol class="calls">
          {calls.slice(0, shown).map(({ strand, cycle, direct, derived, through }) => (
            <li key={`${strand}:${cycle}`}>
              <PlaceLink
                place={{ lineage: `${act.history}:${strand}`, at: `@c${cycle}` }}
                act={act.id}
                go={go}
              />
              {many && (
                <span class="quiet">
                  <SafeText text={nameOf(strand)} />
                </span>
              )}
              <span class={`badge ${direct > 0 ? 'cause' : ''}`}>{direct > 0 ? 'direct' : 'derived'}</span>
              <span class="quiet call-through">
                {plural(direct + derived, 'block')}, by{' '}
                <button
                  class="link"
                  title="Show the block there"
                  onClick={() => go({ history: `${act.history}:${strand}`, at: `@c${cycle}`, node: through })}
                >
                  <SafeText text={through} />
                </button>
              </span>
            </li>
          ))}
        </ol>
      )}
      {calls.length > shown && (
        <button class="more" onClick={() => setShown(shown + MORE)}>
          {plural(calls.length - shown, 'more call')}
        </button>
      )}
      {lost.map(({ id, what, calls: without }) => (
        <p key={id}>
          <SafeText text={id} /> was {what}:{' '}
          {without.length === 0
            ? 'no call has been without it yet.'
            : without.map(({ strand, first, last, count }) => (
                <span key={strand}>
                  {plural(count, 'call')} without it (
                  <PlaceLink
                    place={{ lineage: `${act.history}:${strand}`, at: `@c${first}` }}
                    words={first === last ? `@c${first}` : `@c${first} … @c${last}`}
                    act={act.id}
                    go={go}
                  />
                  ){' '}
                </span>
              ))}
        </p>
      ))}
    </>
  );
};
