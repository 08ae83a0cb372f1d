import type { ImpactAnswer, InterventionAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Go } from '../page/address.ts';
import { addressById, branchLabel } from '../page/chosen.ts';
import { PositionLink } from '../page/position-links.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import { useBranches } from '../branches/use-branches.ts';
import { useQuery } from '../asking/queries.ts';
import { grouped, plural } from '../parts/words.ts';

const FIRST_CALLS = 30;
const MORE_CALLS = 300;

/** What an intervention led to: the calls that were shown a node that it inserted, or one made from it. */
export const ImpactFacts = ({
  history,
  intervention,
  go,
}: {
  readonly history: string;
  readonly intervention: InterventionAnswer;
  readonly go: Go;
}): ComponentChildren => {
  const query = useQuery(`now/h/${history}/impact/${intervention.id}`, (client) =>
    client.impact({ history, id: intervention.id }),
  );
  return (
    <section class="impact" aria-label="Impact">
      <h3>Impact</h3>
      <Shown query={query} what="impact">
        {(impact) => <Calls impact={impact} intervention={intervention} go={go} />}
      </Shown>
    </section>
  );
};

const Calls = ({
  impact: { brought, calls, counts, lost, branches },
  intervention,
  go,
}: {
  readonly impact: ImpactAnswer;
  readonly intervention: InterventionAnswer;
  readonly go: Go;
}): ComponentChildren => {
  const [shown, setShown] = useState(FIRST_CALLS);
  const names = useBranches(intervention.history);
  const nameOf = (branchId: number): string =>
    branchLabel(
      branchId,
      names.state === 'done' ? names.value.branches.find((one) => one.branchId === branchId)?.name : null,
    );
  const many = branches.length > 1;
  return (
    <>
      <p>
        {brought.length === 0 && lost.length === 0 ? (
          'It added no block and removed none.'
        ) : counts.calls === 0 && lost.every((one) => one.calls.length === 0) ? (
          'No model call was affected.'
        ) : (
          <>
            <b>{plural(counts.calls, 'call')}</b> saw it: <b>{grouped(counts.direct)}</b> what it added,{' '}
            <b>{grouped(counts.derived)}</b> only what was derived from it.
          </>
        )}
      </p>
      {calls.length > 0 && (
        <ol class="calls">
          {calls.slice(0, shown).map(({ branchId, cycle, direct, derived, through }) => (
            <li key={`${branchId}:${cycle}`}>
              <PositionLink
                position={{ branch: addressById(intervention.history, branchId), at: `@c${cycle}` }}
                intervention={intervention.id}
                go={go}
              />
              {many && (
                <span class="quiet">
                  <SafeText text={nameOf(branchId)} />
                </span>
              )}
              <span class={`badge ${direct > 0 ? 'cause' : ''}`}>{direct > 0 ? 'direct' : 'derived'}</span>
              <span class="quiet call-through">
                {plural(direct + derived, 'block')}, by{' '}
                <button
                  class="link"
                  title="Show the block at this position"
                  onClick={() =>
                    go({
                      history: addressById(intervention.history, branchId),
                      at: `@c${cycle}`,
                      node: through,
                    })
                  }
                >
                  <SafeText text={through} />
                </button>
              </span>
            </li>
          ))}
        </ol>
      )}
      {calls.length > shown && (
        <button class="more" onClick={() => setShown(shown + MORE_CALLS)}>
          {plural(calls.length - shown, 'more call')}
        </button>
      )}
      {lost.map(({ id, what, calls: without }) => (
        <p key={id}>
          <SafeText text={id} /> was {what}:{' '}
          {without.length === 0
            ? 'no call without it yet.'
            : without.map(({ branchId, first, last, count }) => (
                <span key={branchId}>
                  {plural(count, 'call')} without it (
                  <PositionLink
                    position={{ branch: addressById(intervention.history, branchId), at: `@c${first}` }}
                    words={first === last ? `@c${first}` : `@c${first} … @c${last}`}
                    intervention={intervention.id}
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
