import type { Why } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import type { Go } from './address.ts';
import { SafeText } from './safe-text.tsx';
import { Shown } from './states.tsx';
import { usePosition } from './use-tree.ts';
import { isoTime, shortTime } from './words.ts';

type Moment = Why['then'][number];

/** The life of a node as seen from where one is: how it came, what happened to it, how it went, and who did it. */
export const Story = ({
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
      <h3>why it is here</h3>
      <Shown query={query} what="story">
        {({ came, then, left, position }) => (
          <ol class="story">
            {[came, ...then, ...(left === null ? [] : [left])].map((moment) => (
              <li key={`${moment.seq}.${moment.index}`}>
                <button
                  class="link place"
                  title={`The position after frame ${moment.seq}`}
                  onClick={() => go({ at: `@s${moment.seq}` })}
                >
                  c{moment.cycle}
                </button>
                <span>
                  <Words moment={moment} node={node} />
                </span>
                <span class="quiet story-by">
                  <By moment={moment} history={position.history} go={go} />{' '}
                  <time dateTime={isoTime(moment.at)} title={isoTime(moment.at)}>
                    {shortTime(moment.at)}
                  </time>
                </span>
                {moment.notes !== null && moment.notes !== '' && (
                  <p class="act-notes">
                    <SafeText text={moment.notes} />
                  </p>
                )}
              </li>
            ))}
          </ol>
        )}
      </Shown>
    </section>
  );
};

/** Who did it; an act of an observer leads to its intervention. */
const By = ({
  moment: { author, command },
  history,
  go,
}: {
  readonly moment: Moment;
  readonly history: string;
  readonly go: Go;
}): ComponentChildren =>
  'recorder' in author ? (
    <SafeText text={author.recorder} />
  ) : (
    <button class="link" title={`An intervention of ${history}`} onClick={() => go({ act: command })}>
      <SafeText text={author.actor} />
    </button>
  );

const Words = ({ moment, node }: { readonly moment: Moment; readonly node: string }): ComponentChildren => {
  const { cause } = moment;
  switch (cause.kind) {
    case 'mutation':
      return (
        <>
          {PAST[cause.op]}
          {cause.by !== null && (
            <>
              {' '}
              with <SafeText text={cause.by} />
            </>
          )}
          <Set moment={moment} />
        </>
      );
    case 'import':
      return (
        <>
          came in with an export
          <Set moment={moment} />
        </>
      );
    case 'expiry':
      return 'expired: its ttl was over';
    case 'cascade':
      return (
        <>
          {cause.why === 'contained' ? 'went with ' : 'emptied: the last in it was '}
          <SafeText text={cause.by} />
        </>
      );
    case 'pruning':
      return `pruned by ${cause.rule}, number ${cause.rank} to go`;
    case 'ageing':
      return `aged${moment.until === null || moment.until === moment.cycle ? '' : ` until c${moment.until}`}${moment.ttl == null ? '' : `: ttl ${moment.ttl}`}`;
    case 'sealing':
      return cause.turn === node ? (
        'came as a turn: what lay in the head was sealed'
      ) : (
        <>
          sealed into <SafeText text={cause.turn} />
        </>
      );
    case 'hold':
      return (
        <>
          due, but held by <SafeText text={cause.by} />
        </>
      );
  }
};

const Set = ({ moment: { parent, ttl } }: { readonly moment: Moment }): ComponentChildren => (
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

const PAST: Readonly<Record<string, string>> = {
  start: 'came with the history',
  insert: 'inserted',
  replace: 'replaced',
  move: 'moved',
  carry: 'moved along',
  remove: 'removed',
  priority: 'given another priority',
};
