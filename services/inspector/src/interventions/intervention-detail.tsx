import { nameOfIntervention, type InterventionAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import type { Go } from '../page/address.ts';
import { addressById } from '../page/chosen.ts';
import { Contents } from '../parts/content.tsx';
import { ImpactFacts } from './impact-facts.tsx';
import { PositionLinks } from '../page/position-links.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import { useQuery } from '../asking/queries.ts';
import { shortTime } from '../parts/words.ts';

/** An intervention in full: who, when, why, what, later notes, and its effects. */
export const InterventionDetail = ({
  history,
  intervention,
  go,
}: {
  readonly history: string;
  readonly intervention: string;
  readonly go: Go;
}): ComponentChildren => {
  const query = useQuery(`now/h/${history}/intervention/${intervention}`, (client) =>
    client.intervention({ history, id: intervention }),
  );
  return (
    <aside class="panel detail act-detail" aria-label="Selected intervention">
      <header class="panel-head">
        <h2>
          {query.state === 'done' ? (
            <>
              <span class="badge type">{nameOfIntervention(query.value)}</span>{' '}
              <SafeText text={query.value.actor} />
            </>
          ) : (
            'Intervention'
          )}
        </h2>
        <span class="tabs">
          {query.state === 'done' && query.value.snapshot_before !== null && (
            <button
              class="plain"
              title="Roll back to the position before it"
              onClick={() =>
                go({
                  history: addressById(query.value.history, query.value.branchId),
                  at: query.value.snapshot_before,
                  intervention,
                  dialog: 'rollback',
                })
              }
            >
              Undo…
            </button>
          )}
          <button class="plain" onClick={() => go({ intervention: null })} title="Close (Esc)">
            Close
          </button>
        </span>
      </header>
      <div class="scroll detail-body">
        <Shown query={query} what="intervention">
          {(value) => (
            <>
              <Facts intervention={value} go={go} />
              <ImpactFacts history={history} intervention={value} go={go} />
            </>
          )}
        </Shown>
      </div>
    </aside>
  );
};

const Facts = ({
  intervention,
  go,
}: {
  readonly intervention: InterventionAnswer;
  readonly go: Go;
}): ComponentChildren => (
  <div class="payload">
    <dl class="facts">
      <div>
        <dt>time</dt>
        <dd>
          {intervention.timestamp} <span class="quiet">@s{intervention.seq}</span>
        </dd>
      </div>
      <div>
        <dt>positions</dt>
        <dd>
          <PositionLinks intervention={intervention} go={go} />
        </dd>
      </div>
      <div>
        <dt>notes</dt>
        <dd class="act-notes">
          {intervention.notes === '' ? (
            <span class="quiet">none</span>
          ) : (
            <SafeText text={intervention.notes} />
          )}
        </dd>
      </div>
      <div>
        <dt>id</dt>
        <dd>
          <SafeText text={intervention.id} />
        </dd>
      </div>
    </dl>
    <Contents values={intervention.content} />
    {intervention.annotations.length > 0 && (
      <section>
        <h3>later notes</h3>
        <ul class="annotations">
          {intervention.annotations.map(({ seq, timestamp, by, note }) => (
            <li key={seq}>
              <b>
                <SafeText text={by} />
              </b>{' '}
              <time class="quiet" dateTime={timestamp}>
                {shortTime(Date.parse(timestamp))}
              </time>
              <p class="act-notes">
                <SafeText text={note} />
              </p>
            </li>
          ))}
        </ul>
      </section>
    )}
  </div>
);
