import type { ComponentChildren } from 'preact';
import { branchLabel } from '../page/chosen.ts';
import { useHistories } from '../page/histories.tsx';
import { SafeText, visible } from '../parts/safe-text.tsx';
import type { PageView, ViewProps } from '../parts/page-view.ts';
import { Shown } from '../asking/states.tsx';
import '../style/compare.css';
import { useBranches } from '../branches/use-branches.ts';
import { useQuery } from '../asking/queries.ts';
import { RequestChanges } from '../parts/request-changes.tsx';
import { grouped, plural, shortTime } from '../parts/words.ts';
import { PlaceWords, type ShownComparison } from './comparison-parts.tsx';
import { ComparedBytes } from './compared-bytes.tsx';
import { ComparedMessages } from './compared-messages.tsx';
import { ComparedNodes } from './compared-nodes.tsx';
import { ComparedTime } from './compared-time.tsx';

type Go = ViewProps['go'];

const PARTS = [
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
  const part = PARTS.find(([name]) => name === address.part)?.[0] ?? 'messages';
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
        <Compared history={history} a={a} b={b} part={part} go={go} />
      )}
    </div>
  );
};

/** What may be compared: branches and saved positions of the history, and other histories. */
const useSuggestions = (history: string): readonly (readonly [value: string, words: string])[] => {
  const branches = useBranches(history.split(':')[0] ?? history);
  const histories = useHistories(1);
  return [
    ...(branches.state === 'done'
      ? branches.value.branches.flatMap(({ branchId, name, saved }) => [
          [name ?? String(branchId), `branch ${branchLabel(branchId, name)}`] as const,
          ...saved.map((one) => [`@name:${one.name}`, `saved position ${one.name}`] as const),
        ])
      : []),
    ...(histories.state === 'done'
      ? histories.value.histories
          .filter((one) => one.history !== history)
          .map((one) => [`${one.history}:main`, `history ${one.name ?? one.history}`] as const)
      : []),
  ];
};

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
}): ComponentChildren => {
  const suggestions = useSuggestions(history);
  return (
    <form
      key={`${a} ${b}`}
      class="compare-sides"
      onSubmit={(event) => {
        event.preventDefault();
        const given = new FormData(event.currentTarget);
        const textOf = (name: string): string => {
          const value = given.get(name);
          return typeof value === 'string' ? value.trim() : '';
        };
        go({ a: textOf('a'), b: textOf('b') });
      }}
    >
      <label>
        A <input name="a" list="compare-with" value={a} placeholder="@c3, BRANCH@c3, @name:NAME" />
      </label>
      <button
        class="plain"
        type="button"
        title="Exchange A and B"
        aria-label="Exchange A and B"
        onClick={() => go({ a: b, b: a })}
      >
        ⇄
      </button>
      <label>
        B <input name="b" list="compare-with" value={b} placeholder="BRANCH, OTHER:main, OTHER@c3" />
      </label>
      <button class="plain">Compare</button>
      <datalist id="compare-with">
        {suggestions.map(([value, words]) => (
          <option key={value} value={value}>
            {visible(words)}
          </option>
        ))}
      </datalist>
    </form>
  );
};

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
  readonly part: Part;
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
          <div class="tabs compare-parts" role="group" aria-label="What is compared">
            {PARTS.map(([name, words]) => (
              <button
                key={name}
                class="tab"
                aria-pressed={part === name}
                onClick={() => go({ part: name === 'messages' ? null : name })}
              >
                {words}
              </button>
            ))}
          </div>
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
