import {
  addressOf,
  describeIntervention,
  ENDPOINTS,
  firstWords,
  type InterventionAnswer,
  interventionTypes,
  nameOfIntervention,
} from '@stemma/api';
import { branchLabel } from '../page/chosen.ts';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { NO_FILTER, type Address, type Go } from '../page/address.ts';
import { PositionLinks } from '../page/position-links.tsx';
import { SafeText, visible } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import {
  filterOf,
  INTERVENTIONS_PAGE,
  type InterventionsShown,
  MAX_INTERVENTIONS,
  useBranches,
  useInterventions,
} from '../branches/use-branches.ts';
import { grouped, isoTime, plural, shortTime } from '../parts/words.ts';

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
  const { actor, on, after, before, intervention } = address;
  const shown = { type, actor, on, after, before };
  const query = useInterventions(history, shown, pages);
  const names = useBranchNames(history);
  return (
    <>
      <Filter history={history} shown={shown} names={names} go={go} />
      <Shown query={query} what="interventions">
        {({ interventions, next }) =>
          interventions.length === 0 ? (
            Object.values(shown).every((one) => one === null) ? (
              <HowToIntervene history={address.history ?? history} />
            ) : (
              <div class="note">
                <p>No intervention matches the filter.</p>
                <p>
                  <button class="link" onClick={() => go(NO_FILTER)}>
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
  shown,
  names,
  go,
}: {
  readonly history: string;
  readonly shown: InterventionsShown;
  readonly names: ReadonlyMap<number, string>;
  readonly go: Go;
}): ComponentChildren => {
  const { type, actor, on, after, before } = shown;
  // The list offers recent actors, whatever is chosen now.
  const all = useInterventions(history, NO_FILTER, 1);
  const seen = all.state === 'done' ? all.value.interventions.map((one) => one.actor) : [];
  const actors = [...new Set(actor === null ? seen : [actor, ...seen])];
  if (actors.length === 0) return null;
  const filter = filterOf(shown);
  const choose = (change: Partial<Address>): void => go({ ...change, intervention: null });
  return (
    <div class="side-facts filter">
      <Choice
        label="Type"
        all="every type"
        value={type}
        values={interventionTypes.map((one) => [one, one])}
        choose={(value) => choose({ type: value })}
      />
      <Choice
        label="Actor"
        all="every actor"
        value={actor}
        values={actors.map((one) => [one, visible(one)])}
        choose={(value) => choose({ actor: value })}
      />
      <Choice
        label="Branch"
        all="every branch"
        value={on}
        values={[...names].map(([branchId, name]) => [String(branchId), visible(name)])}
        choose={(value) => choose({ on: value })}
      />
      <label>
        from{' '}
        <input
          type="datetime-local"
          value={after ?? ''}
          onChange={({ currentTarget }) => choose({ after: currentTarget.value || null })}
        />
      </label>
      <label>
        to{' '}
        <input
          type="datetime-local"
          value={before ?? ''}
          onChange={({ currentTarget }) => choose({ before: currentTarget.value || null })}
        />
      </label>
      <span class="quiet">
        export{' '}
        {(['jsonl', 'csv'] as const).map((format) => (
          <a
            key={format}
            download={`interventions.${format}`}
            href={addressOf(ENDPOINTS.interventionLines, { history, ...filter, format })}
          >
            {format === 'jsonl' ? 'JSON lines' : 'CSV'}{' '}
          </a>
        ))}
      </span>
    </div>
  );
};

const Choice = ({
  label,
  all,
  value,
  values,
  choose,
}: {
  readonly label: string;
  readonly all: string;
  readonly value: string | null;
  readonly values: readonly (readonly [value: string, words: string])[];
  readonly choose: (value: string | null) => void;
}): ComponentChildren => (
  <select
    aria-label={label}
    value={value ?? ''}
    onChange={({ currentTarget }) => choose(currentTarget.value || null)}
  >
    <option value="">{all}</option>
    {values.map(([one, words]) => (
      <option key={one} value={one}>
        {words}
      </option>
    ))}
  </select>
);

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
          {nameOfIntervention(intervention)}
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
  <div class="note hint" role="region" aria-label="How to intervene" tabIndex={0}>
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
