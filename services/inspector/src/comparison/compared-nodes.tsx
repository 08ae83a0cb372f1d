import { pastOf, type AnswerOf, type Endpoints } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { SafeText } from '../parts/safe-text.tsx';
import type { ViewProps } from '../parts/page-view.ts';
import { Shown } from '../asking/states.tsx';
import { useQuery } from '../asking/queries.ts';
import { plural, shortTime } from '../parts/words.ts';
import { branchOf, type ShownComparison } from './comparison-parts.tsx';

type Go = ViewProps['go'];
type Explained = Extract<AnswerOf<Endpoints['diff']>, { readonly entries: unknown }>;
type Entry = Explained['entries'][number];
type EntryCause = Entry['causes'][number];

/** What each side did since both were the same: nodes added, removed, changed and moved, with who did it and why. */
export const ComparedNodes = ({
  comparison,
  go,
}: {
  readonly comparison: ShownComparison;
  readonly go: Go;
}): ComponentChildren => {
  const { mergeBase, a, b, alike } = comparison;
  if (mergeBase === null)
    return (
      <p class="note">
        Two histories have no node in common. {plural(alike.length, 'node')} say the same under other ids: the
        messages show what differs.
      </p>
    );
  return (
    <div class="compared">
      {(
        [
          ['A', a],
          ['B', b],
        ] as const
      ).map(([name, side]) => (
        <section key={name} class="panel compared-nodes" aria-label={`Nodes of ${name}`}>
          <header class="panel-head">
            <h2>
              {name} since {mergeBase.position.label} <span class="at">{side.position.label}</span>
            </h2>
          </header>
          {side.position.seq === mergeBase.position.seq ? (
            <p class="note quiet">It is what both have.</p>
          ) : (
            <Entries side={side} from={mergeBase.position.seq} go={go} />
          )}
        </section>
      ))}
    </div>
  );
};

const MOST = 1_000;

const Entries = ({
  side,
  from,
  go,
}: {
  readonly side: ShownComparison['a'];
  readonly from: number;
  readonly go: Go;
}): ComponentChildren => {
  const history = branchOf(side);
  const query = useQuery(`now/h/${history}/explained/${from}/${side.position.seq}`, (client) =>
    client.diff({ history, a: `@s${from}`, b: `@s${side.position.seq}`, explain: '1' }),
  );
  const known = new Map([...side.added, ...side.removed, ...side.changed].map((node) => [node.id, node]));
  return (
    <Shown query={query} what="causes">
      {(diff) =>
        'entries' in diff ? (
          <>
            {diff.moves.length > 0 && (
              <ul class="node-changes" aria-label="Moved">
                {diff.moves.map(({ from: old, to }) => (
                  <li key={`${old} ${to}`}>
                    <span class="badge">moved</span> <SafeText text={old} /> → <SafeText text={to} />{' '}
                    <span class="quiet">the same content under another id</span>
                  </li>
                ))}
              </ul>
            )}
            <ul class="node-changes">
              {diff.entries.slice(0, MOST).map(({ id, change, fields, causes }) => {
                const isMoved = change === 'changed' && fields.includes('parent');
                return (
                  <li key={`${change} ${id}`} class={change === 'removed' ? 'is-gone' : ''}>
                    <span
                      class={`badge ${change === 'added' ? 'new' : change === 'removed' ? 'gone' : 'changed'}`}
                    >
                      {isMoved ? 'moved' : change}
                    </span>{' '}
                    <button
                      class="link"
                      onClick={() =>
                        go({
                          show: null,
                          history,
                          at: change === 'removed' ? `@s${from}` : side.position.label,
                          node: id,
                        })
                      }
                    >
                      <SafeText text={id} />
                    </button>{' '}
                    {change === 'changed' && (
                      <span class="quiet">
                        <SafeText text={fields.join(', ')} />
                      </span>
                    )}{' '}
                    <span class="node-excerpt">
                      <SafeText text={(known.get(id)?.excerpt ?? '').slice(0, 160)} />
                    </span>
                    <Causes causes={causes} go={go} history={history} />
                  </li>
                );
              })}
            </ul>
            {diff.entries.length > MOST && <p class="note quiet">{diff.entries.length - MOST} more nodes.</p>}
          </>
        ) : null
      }
    </Shown>
  );
};

const Causes = ({
  causes,
  history,
  go,
}: {
  readonly causes: readonly EntryCause[];
  readonly history: string;
  readonly go: Go;
}): ComponentChildren => (
  <span class="node-causes quiet">
    {causes.slice(-3).map((entry) => (
      <span key={`${entry.seq}.${entry.index}`}>
        {causeWords(entry)} by{' '}
        {'actor' in entry.author ? (
          <button
            class="link"
            onClick={() => go({ show: null, history, side: 'interventions', intervention: entry.command })}
          >
            <SafeText text={entry.author.actor} />
          </button>
        ) : (
          <SafeText text={entry.author.recorder} />
        )}{' '}
        at {shortTime(entry.at)}
        {entry.notes !== null && entry.notes !== '' && (
          <>
            : “<SafeText text={entry.notes} />”
          </>
        )}{' '}
      </span>
    ))}
  </span>
);

const causeWords = ({ cause }: EntryCause): string => {
  switch (cause.kind) {
    case 'mutation':
      return pastOf(cause.op);
    case 'import':
      return 'imported';
    case 'expiry':
      return 'expired, its ttl ran out; recorded';
    case 'cascade':
      return 'removed with its container';
    case 'pruning':
      return `pruned by ${cause.rule}`;
    case 'ageing':
      return 'aged';
    case 'sealing':
      return 'sealed into a turn';
    case 'hold':
      return 'kept after its ttl';
  }
};
