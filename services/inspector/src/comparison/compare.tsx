import type { ComponentChildren } from 'preact';
import { SafeText } from '../parts/safe-text.tsx';
import type { PageView, ViewProps } from '../parts/page-view.ts';
import { Shown } from '../asking/states.tsx';
import '../style/compare.css';
import { useQuery } from '../asking/queries.ts';
import { RequestChanges } from '../parts/request-changes.tsx';
import { grouped, plural, shortTime } from '../parts/words.ts';
import { PlaceWords, type ShownComparison } from './comparison-parts.tsx';
import { ComparedBytes } from './compared-bytes.tsx';
import { ComparedDecisions } from './compared-decisions.tsx';
import { ComparedMessages } from './compared-messages.tsx';
import { ComparedNodes } from './compared-nodes.tsx';
import { ComparedTime } from './compared-time.tsx';
import { SidePicker } from './side-picker.tsx';

type Go = ViewProps['go'];

const PARTS = [
  ['decisions', 'Decisions'],
  ['messages', 'Messages'],
  ['nodes', 'Nodes and causes'],
  ['time', 'Over time'],
  ['bytes', 'Bytes'],
  ['openai', 'OpenAI messages'],
] as const;
type Part = (typeof PARTS)[number][0];

/** Two positions, branches or histories side by side. */
export const View: PageView = ({ address, looking, go }) => {
  const { history } = address;
  const here = looking?.cycle ?? null;
  const b = address.b ?? (here === null ? '' : `@c${here}`);
  const a = address.a ?? (here === null ? '' : `@c${Math.max(1, here - 1)}`);
  // Of two runs or branches one asks what they did, of two positions what the model was shown.
  const usual = [a, b].every((side) => side !== '' && !side.includes('@')) ? 'decisions' : 'messages';
  const part = PARTS.find(([name]) => name === address.part)?.[0] ?? usual;
  return (
    <div class="compare view-scroll">
      <Sides history={history} a={a} b={b} go={go} />
      {a === '' || b === '' ? (
        <div class="note">
          <p>Say two positions, branches or histories: the calls of two trials of one task, for example.</p>
          <pre>
            ./stemma compare <SafeText text={history} /> main what-if
          </pre>
        </div>
      ) : (
        <>
          <Parts part={part} usual={usual} go={go} />
          {part === 'decisions' ? (
            <ComparedDecisions history={history} a={a} b={b} row={address.filter} go={go} />
          ) : (
            <Compared history={history} a={a} b={b} part={part} go={go} />
          )}
        </>
      )}
    </div>
  );
};

/** What of the two sides is compared. */
const Parts = ({
  part,
  usual,
  go,
}: {
  readonly part: Part;
  readonly usual: Part;
  readonly go: Go;
}): ComponentChildren => (
  <div class="tabs compare-parts" role="group" aria-label="What is compared">
    {PARTS.map(([name, words]) => (
      <button
        key={name}
        class="tab"
        aria-pressed={part === name}
        onClick={() => go({ part: name === usual ? null : name, filter: null })}
      >
        {words}
      </button>
    ))}
  </div>
);

const Sides = ({
  history,
  a,
  b,
  go,
}: {
  readonly history: string;
  readonly a: string;
  readonly b: string;
  readonly go: Go;
}): ComponentChildren => (
  <div class="compare-sides">
    <SidePicker name="A" history={history} value={a} pick={(picked) => go({ a: picked, b, filter: null })} />
    <button
      class="plain"
      title="Exchange A and B"
      aria-label="Exchange A and B"
      onClick={() => go({ a: b, b: a, filter: null })}
    >
      ⇄
    </button>
    <SidePicker name="B" history={history} value={b} pick={(picked) => go({ a, b: picked, filter: null })} />
  </div>
);

const Compared = ({
  history,
  a,
  b,
  part,
  go,
}: {
  readonly history: string;
  readonly a: string;
  readonly b: string;
  readonly part: Exclude<Part, 'decisions'>;
  readonly go: Go;
}): ComponentChildren => {
  const query = useQuery(`now/h/${history}/compare/${a}/${b}`, (client) =>
    client.compare({ history, a, b, excerpt: 20_000 }),
  );
  return (
    <Shown query={query} what="comparison">
      {(comparison) => (
        <>
          <Summary comparison={comparison} go={go} />
          {comparison.request !== null && comparison.request.length > 0 && (
            <section class="panel compare-request" aria-label="Tools and parameters">
              <h3>tools and parameters of the newest calls</h3>
              <RequestChanges changes={comparison.request} />
            </section>
          )}
          {part === 'messages' ? (
            <ComparedMessages comparison={comparison} go={go} />
          ) : part === 'nodes' ? (
            <ComparedNodes comparison={comparison} go={go} />
          ) : part === 'time' ? (
            <ComparedTime comparison={comparison} go={go} />
          ) : (
            <ComparedBytes comparison={comparison} provider={part === 'openai' ? 'openai' : null} />
          )}
        </>
      )}
    </Shown>
  );
};

const RELATIONS: Readonly<Record<ShownComparison['relation'], string>> = {
  same: 'A and B are the same position.',
  'a-before-b': 'A is on the way to B.',
  'b-before-a': 'B is on the way to A.',
  diverged: 'A and B diverged.',
  apart: 'A and B are of two histories; what both say is aligned.',
};

const Summary = ({
  comparison: { relation, mergeBase, divergedBy, a, b, threads },
  go,
}: {
  readonly comparison: ShownComparison;
  readonly go: Go;
}): ComponentChildren => (
  <section class="panel compare-summary" aria-label="Summary">
    <p>
      {RELATIONS[relation]}{' '}
      {relation === 'diverged' && mergeBase !== null && (
        <>
          Both have everything up to{' '}
          <button
            class="link place"
            onClick={() =>
              go({ show: null, history: mergeBase.position.branch, at: mergeBase.position.label })
            }
          >
            <PlaceWords position={mergeBase.position} />
          </button>
          .{' '}
        </>
      )}
      {divergedBy !== null && (
        <>
          A {divergedBy.how} by{' '}
          <b>
            <SafeText
              text={'actor' in divergedBy.author ? divergedBy.author.actor : divergedBy.author.recorder}
            />
          </b>{' '}
          made {divergedBy.side.toUpperCase()} at {shortTime(divergedBy.at)}
          {divergedBy.intervention !== null && divergedBy.intervention.notes !== '' && (
            <>
              : “<SafeText text={divergedBy.intervention.notes} />”
            </>
          )}
          .
        </>
      )}{' '}
      {threads.since !== null && (
        <>
          The calls of cycle <b>{threads.since}</b> are the first that were shown something else.
        </>
      )}
    </p>
    <table class="compare-counts">
      <thead>
        <tr>
          <th scope="col">side</th>
          <th scope="col">position</th>
          <th scope="col">shown</th>
          <th scope="col">tokens</th>
          <th scope="col">nodes</th>
          <th scope="col">interventions</th>
        </tr>
      </thead>
      <tbody>
        {(
          [
            ['A', a],
            ['B', b],
          ] as const
        ).map(([name, side]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <button
                class="link place"
                onClick={() => go({ show: null, history: side.position.branch, at: side.position.label })}
              >
                <PlaceWords position={side.position} />
              </button>
            </td>
            <td>{plural(side.shown, 'block')}</td>
            <td>{grouped(side.tokens)}</td>
            <td>
              <span class="came">+{grouped(side.added.length)}</span>{' '}
              <span class="gone">−{grouped(side.removed.length)}</span>{' '}
              {side.changed.length > 0 && `${grouped(side.changed.length)} changed`}
            </td>
            <td>{grouped(side.interventions)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
