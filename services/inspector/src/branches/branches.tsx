import { addressOf, ENDPOINTS, type AnswerOf, type BranchNodeAnswer, type Endpoints } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import { positionX } from './branch-drawing.ts';
import { BranchesPanel } from './branches-panel.tsx';
import { branchLabel } from '../page/chosen.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import '../style/more-views.css';
import { useQuery } from '../asking/queries.ts';
import { plural, shortTime } from '../parts/words.ts';
import type { PageView, ViewProps } from '../parts/page-view.ts';

type Saved = AnswerOf<Endpoints['saved']>['saved'][number];

/** The branches of a history as a drawing with room, its saved positions, and what can be done from the position shown. */
export const View: PageView = ({ address, head, looking, go }) => {
  const [withAbandoned, setWithAbandoned] = useState(true);
  const [name, setName] = useState('');
  const wanted = name.trim().toLowerCase();
  const keep = useCallback(
    (one: BranchNodeAnswer) =>
      (withAbandoned || one.abandoned_by === null) &&
      branchLabel(one.branchId, one.name).toLowerCase().includes(wanted),
    [withAbandoned, wanted],
  );
  return (
    <div class="branches-view">
      <Shown query={head} what="branches">
        {({ history, branch, working }) => (
          <>
            <section class="panel branch-drawing" aria-label="Drawing of the branches">
              <header class="panel-head">
                <h2>Branches</h2>
                <span class="tabs">
                  <button
                    class="toggle"
                    aria-pressed={withAbandoned}
                    onClick={() => setWithAbandoned(!withAbandoned)}
                  >
                    Abandoned ones
                  </button>
                </span>
              </header>
              <p class="side-facts filter">
                <input
                  aria-label="A text in the name of a branch"
                  placeholder="a text in the name"
                  value={name}
                  onInput={({ currentTarget }) => setName(currentTarget.value)}
                />
              </p>
              <BranchesPanel
                history={history}
                asked={address.history}
                branch={branch}
                looking={looking}
                cycle={looking?.cycle ?? positionX(working)}
                keep={keep}
                go={go}
              />
            </section>
            <Here history={address.history} at={looking?.reference} go={go} />
            <SavedPositions history={history} go={go} />
          </>
        )}
      </Shown>
    </div>
  );
};

/** What can be done from the position shown. */
const Here = ({
  history,
  at,
  go,
}: {
  readonly history: string;
  readonly at: string | undefined;
  readonly go: ViewProps['go'];
}): ComponentChildren => {
  const where = at === undefined ? {} : { at };
  return (
    <section class="panel here-actions" aria-label="From here">
      <header class="panel-head">
        <h2>
          From here{' '}
          <span class="at">
            <SafeText text={at ?? 'open'} />
          </span>
        </h2>
      </header>
      <p class="actions">
        {(
          [
            ['save', 'Name it'],
            ['annotate', 'Annotate'],
            ['fork', 'Fork'],
            ['rollback', 'Roll back to it'],
            ['run', 'Continue with a model'],
          ] as const
        ).map(([dialog, words]) => (
          <button key={dialog} class="plain" onClick={() => go({ dialog })}>
            {words}
          </button>
        ))}
        <button class="plain" onClick={() => go({ show: 'compare', a: at ?? null, b: null, part: null })}>
          Compare with…
        </button>
        <a class="plain" download href={addressOf(ENDPOINTS.export, { history, ...where })}>
          Export the tree
        </a>
        <a class="plain" download href={addressOf(ENDPOINTS.experiment, { history, ...where })}>
          Export as an experiment
        </a>
      </p>
    </section>
  );
};

const SavedPositions = ({
  history,
  go,
}: {
  readonly history: string;
  readonly go: ViewProps['go'];
}): ComponentChildren => (
  <section class="panel saved-positions" aria-label="Saved positions">
    <header class="panel-head">
      <h2>Saved positions</h2>
    </header>
    <Shown
      query={useQuery(`now/h/${history}/saved`, (client) => client.saved({ history }))}
      what="saved positions"
    >
      {({ saved }) =>
        saved.length === 0 ? (
          <div class="note">
            <p>No position has a name yet.</p>
            <pre>
              ./stemma save <SafeText text={history} /> good
            </pre>
          </div>
        ) : (
          <ul class="scroll saved-list" tabIndex={0} aria-label="Saved positions, oldest first">
            {saved.map((one) => (
              <SavedRow key={`${one.branchId} ${one.id}`} one={one} go={go} />
            ))}
          </ul>
        )
      }
    </Shown>
  </section>
);

const SavedRow = ({ one, go }: { readonly one: Saved; readonly go: ViewProps['go'] }): ComponentChildren => (
  <li>
    <button class="link" onClick={() => go({ show: null, history: one.branch, at: one.position.label })}>
      <SafeText text={one.id} />
    </button>{' '}
    <span class="quiet">
      {one.position.label}
      {one.actor !== null && (
        <>
          {' '}
          by <SafeText text={one.actor} />
        </>
      )}{' '}
      {shortTime(one.created_at)}
      {one.metrics !== null && `, ${plural(one.metrics.blocks, 'block')}`}
    </span>
    {one.description !== '' && (
      <p class="act-notes">
        <SafeText text={one.description} />
      </p>
    )}
    <span class="tabs">
      <button
        class="plain"
        onClick={() =>
          go({ show: 'compare', history: one.branch, a: `@name:${one.id}`, b: null, part: null })
        }
      >
        Compare with…
      </button>
      <button
        class="plain"
        onClick={() => go({ history: one.branch, at: one.position.label, dialog: 'fork' })}
      >
        Fork
      </button>
    </span>
  </li>
);
