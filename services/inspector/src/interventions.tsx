import {
  addressOf,
  describeIntervention,
  ENDPOINTS,
  firstWords,
  type InterventionAnswer,
  interventionTypes,
} from '@stemma/api';
import { branchLabel } from './chosen.ts';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Address, Go } from './address.ts';
import { PositionLinks } from './position-links.tsx';
import { SafeText, visible } from './safe-text.tsx';
import { Shown } from './states.tsx';
import { INTERVENTIONS_PAGE, MAX_INTERVENTIONS, useBranches, useInterventions } from './use-branches.ts';
import { grouped, isoTime, plural, shortTime } from './words.ts';

/** The interventions of observers in a history, the newest first. */
export const Interventions = ({
  history,
  address,
  go,
}: {
  readonly history: string;
  readonly address: Address;
  readonly go: Go;
}): ComponentChildren => {
  const [pages, setPages] = useState(1);
  const type = interventionTypes.find((one) => one === address.type) ?? null;
  const { actor, intervention } = address;
  const query = useInterventions(history, { type, actor }, pages);
  const names = useBranchNames(history);
  return (
    <>
      <Filter history={history} type={type} actor={actor} go={go} />
      <Shown query={query} what="interventions">
        {({ interventions, next }) =>
          interventions.length === 0 ? (
            type === null && actor === null ? (
              <HowToIntervene history={address.history ?? history} />
            ) : (
              <div class="note">
                <p>No intervention matches the filter.</p>
                <p>
                  <button class="link" onClick={() => go({ type: null, actor: null })}>
                    Show all
                  </button>
                </p>
              </div>
            )
          ) : (
            <ol class="scroll feed" aria-label="Interventions, newest first" tabIndex={-1}>
              {interventions.map((one) => (
                <InterventionItem
                  key={one.seq}
                  intervention={one}
                  chosen={one.id === intervention}
                  names={names}
                  go={go}
                />
              ))}
              {next !== null && (
                <li>
                  {interventions.length < MAX_INTERVENTIONS ? (
                    <button class="more" onClick={() => setPages(pages + 1)}>
                      Show {INTERVENTIONS_PAGE} older ones
                    </button>
                  ) : (
                    <a class="more" href={addressOf(ENDPOINTS.interventionLines, { history })}>
                      All interventions, as JSON lines
                    </a>
                  )}
                </li>
              )}
            </ol>
          )
        }
      </Shown>
    </>
  );
};

/** The names of a history's branches, by branch id. */
const useBranchNames = (history: string): ReadonlyMap<number, string> => {
  const query = useBranches(history);
  return new Map(
    query.state === 'done'
      ? query.value.branches.map(({ branchId, name }) => [branchId, branchLabel(branchId, name)])
      : [],
  );
};

const Filter = ({
  history,
  type,
  actor,
  go,
}: {
  readonly history: string;
  readonly type: string | null;
  readonly actor: string | null;
  readonly go: Go;
}): ComponentChildren => {
  // The list offers recent actors, whatever is chosen now.
  const all = useInterventions(history, { type: null, actor: null }, 1);
  const seen = all.state === 'done' ? all.value.interventions.map((one) => one.actor) : [];
  const actors = [...new Set(actor === null ? seen : [actor, ...seen])];
  if (actors.length === 0) return null;
  return (
    <div class="side-facts filter">
      <select
        aria-label="Type"
        value={type ?? ''}
        onChange={({ currentTarget }) => go({ type: currentTarget.value || null, intervention: null })}
      >
        <option value="">every type</option>
        {interventionTypes.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      <select
        aria-label="Actor"
        value={actor ?? ''}
        onChange={({ currentTarget }) => go({ actor: currentTarget.value || null, intervention: null })}
      >
        <option value="">every actor</option>
        {actors.map((one) => (
          <option key={one} value={one}>
            {visible(one)}
          </option>
        ))}
      </select>
    </div>
  );
};

const InterventionItem = ({
  intervention,
  chosen,
  names,
  go,
}: {
  readonly intervention: InterventionAnswer;
  readonly chosen: boolean;
  readonly names: ReadonlyMap<number, string>;
  readonly go: Go;
}): ComponentChildren => {
  const at = Date.parse(intervention.timestamp);
  const description = describeIntervention(intervention);
  const entry = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => {
    if (chosen) entry.current?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <li ref={entry} class="act" aria-current={chosen ? 'true' : undefined}>
      <button
        class="act-open"
        aria-expanded={chosen}
        title={visible(intervention.id)}
        onClick={() => go({ intervention: chosen ? null : intervention.id })}
      >
        <span class={`badge type type-${intervention.intervention_type}`}>
          {intervention.intervention_type}
        </span>
        <b class="act-actor">
          <SafeText text={intervention.actor} />
        </b>
        <time class="quiet" dateTime={intervention.timestamp} title={isoTime(at)}>
          {shortTime(at)}
        </time>
      </button>
      {description !== '' && (
        <p class="act-words">
          <SafeText text={firstWords(description, 200)} />
        </p>
      )}
      {intervention.notes !== '' && (
        <p class="act-notes">
          <SafeText text={firstWords(intervention.notes, 300)} />
        </p>
      )}
      <p class="act-where quiet">
        <span class="act-branch">
          <SafeText text={names.get(intervention.branchId) ?? branchLabel(intervention.branchId)} />
        </span>
        <PositionLinks intervention={intervention} go={go} />
        {intervention.annotations.length > 0 && (
          <span>{plural(intervention.annotations.length, 'note')}</span>
        )}
      </p>
    </li>
  );
};

const HowToIntervene = ({ history }: { readonly history: string }): ComponentChildren => (
  <div class="note hint">
    <p>No interventions yet. This panel lists each one with its actor, time, reason and impact.</p>
    <pre>
      ./stemma inject <SafeText text={history} /> 'Look at the logs first.' --actor me --notes 'a hint'
    </pre>
    <pre>
      ./stemma save <SafeText text={history} /> good{'\n'}
      ./stemma fork <SafeText text={history} /> @t0 --name what-if
    </pre>
    <p class="quiet">
      An agent's own record is not an intervention. The {grouped(interventionTypes.length)} types are:{' '}
      {interventionTypes.join(', ')}.
    </p>
  </div>
);
