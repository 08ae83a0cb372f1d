import { pastOf, type WhyAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import type { Go } from '../page/address.ts';
import { RequestChanges } from '../parts/request-changes.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import { usePosition } from './use-tree.ts';
import { isoTime, shortTime } from '../parts/words.ts';

type TimelineEntry = WhyAnswer['changes'][number];

/** The timeline of a node at the position shown: its insertion, changes and removal, and who did each. */
export const NodeTimeline = ({
  history,
  reference,
  node,
  go,
}: {
  readonly history: string;
  readonly reference: string | undefined;
  readonly node: string;
  readonly go: Go;
}): ComponentChildren => {
  const query = usePosition(history, reference, `why/${node}`, (client, at) =>
    client.why({ history, node, ...at }),
  );
  return (
    <section aria-label="Why">
      <h3>timeline</h3>
      <Shown query={query} what="timeline">
        {({ added, changes, removed, position, request }) => (
          <>
            <ol class="story">
              {[added, ...changes, ...(removed === null ? [] : [removed])].map((entry) => (
                <li key={`${entry.seq}.${entry.index}`}>
                  <button
                    class="link place"
                    title={`The position after frame ${entry.seq}`}
                    onClick={() => go({ at: `@s${entry.seq}` })}
                  >
                    c{entry.cycle}
                  </button>
                  <span>
                    <CauseText entry={entry} node={node} />
                  </span>
                  <span class="quiet story-by">
                    <AuthorLink entry={entry} history={position.history} go={go} />{' '}
                    <time dateTime={isoTime(entry.at)} title={isoTime(entry.at)}>
                      {shortTime(entry.at)}
                    </time>
                  </span>
                  {entry.notes !== null && entry.notes !== '' && (
                    <p class="act-notes">
                      <SafeText text={entry.notes} />
                    </p>
                  )}
                </li>
              ))}
            </ol>
            <CallChanges which="The first call that showed it" changes={request.first} />
            <CallChanges which="The first call that showed it no more" changes={request.gone} />
          </>
        )}
      </Shown>
    </section>
  );
};

/** Tools and parameters that changed with a call. */
const CallChanges = ({
  which,
  changes,
}: {
  readonly which: string;
  readonly changes: WhyAnswer['request']['first'];
}): ComponentChildren =>
  changes === null || changes.length === 0 ? null : (
    <div class="story-request">
      <p class="quiet">{which} differs from the one before in</p>
      <RequestChanges changes={changes} />
    </div>
  );

/** Who did it; an observer's act links to the intervention. */
const AuthorLink = ({
  entry: { author, command },
  history,
  go,
}: {
  readonly entry: TimelineEntry;
  readonly history: string;
  readonly go: Go;
}): ComponentChildren =>
  'recorder' in author ? (
    <SafeText text={author.recorder} />
  ) : (
    <button
      class="link"
      title={`An intervention of ${history}`}
      onClick={() => go({ intervention: command })}
    >
      <SafeText text={author.actor} />
    </button>
  );

const CauseText = ({
  entry,
  node,
}: {
  readonly entry: TimelineEntry;
  readonly node: string;
}): ComponentChildren => {
  const { cause } = entry;
  switch (cause.kind) {
    case 'mutation':
      return (
        <>
          {pastOf(cause.op)}
          {cause.by !== null && (
            <>
              {' '}
              with <SafeText text={cause.by} />
            </>
          )}
          <SetFields entry={entry} />
        </>
      );
    case 'import':
      return (
        <>
          imported with an export
          <SetFields entry={entry} />
        </>
      );
    case 'expiry':
      return 'expired: its ttl ran out';
    case 'cascade':
      return (
        <>
          {cause.why === 'contained'
            ? 'removed with its container '
            : 'removed because it became empty; its last child was '}
          <SafeText text={cause.by} />
        </>
      );
    case 'pruning':
      return `pruned by ${cause.rule}, rank ${cause.rank}`;
    case 'ageing':
      return `aged${entry.until === null || entry.until === entry.cycle ? '' : ` until c${entry.until}`}${entry.ttl == null ? '' : `: ttl ${entry.ttl}`}`;
    case 'sealing':
      return cause.turn === node ? (
        'created as a turn: the content of the active head was sealed'
      ) : (
        <>
          sealed into <SafeText text={cause.turn} />
        </>
      );
    case 'hold':
      return (
        <>
          kept after its ttl by <SafeText text={cause.by} />
        </>
      );
  }
};

const SetFields = ({ entry: { parent, ttl } }: { readonly entry: TimelineEntry }): ComponentChildren => (
  <>
    {parent != null && (
      <>
        {' '}
        under <SafeText text={parent} />
      </>
    )}
    {typeof ttl === 'number' && `, ttl ${ttl}`}
  </>
);
