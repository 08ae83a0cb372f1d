import { excerptOf, type WhyAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { Shown } from '../asking/states.tsx';
import type { Go } from '../page/address.ts';
import { Content } from '../parts/content.tsx';
import { readToolCall } from '../parts/read-tool-call.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { ToolCall } from '../parts/tool-call.tsx';
import { plural } from '../parts/words.ts';
import { usePosition } from '../tree/use-tree.ts';
import { removedBecause } from './removed-because.ts';
import type { ShownRow } from './shown-rows.ts';

/** A message in place: what it is or was, what removed it, and which calls saw it. */
export const OpenedRow = ({
  row,
  history,
  reference,
  at,
  go,
}: {
  readonly row: ShownRow;
  readonly history: string;
  /** The call that is shown. */
  readonly reference: string | undefined;
  /** The call before, if it left since then. */
  readonly at: string | null;
  readonly go: Go;
}): ComponentChildren => {
  const node = usePosition(history, at ?? reference, `node/${row.id}`, (client, position) =>
    client.node({ history, node: row.id, ...position }),
  );
  const why = usePosition(history, reference, `why/${row.id}`, (client, position) =>
    client.why({ history, node: row.id, ...position }),
  );
  return (
    <div class={`opened-row${at === null ? '' : ' has-left'}`}>
      <Shown query={node} what="the message">
        {({ payload }) => <Message content={payload['content']} isCall={row.kind === 'call'} />}
      </Shown>
      <Shown query={why} what="why">
        {(value) => <Life why={value} history={history} at={at} reference={reference} />}
      </Shown>
      <p class="opened-actions">
        {at !== null && why.state === 'done' && why.value.snapshots !== null && (
          <>
            <button
              class="plain main"
              title="Makes a branch at the last call that was shown it"
              onClick={() => go({ at: `@c${why.value.snapshots?.last ?? 0}`, dialog: 'fork' })}
            >
              What if it had stayed?
            </button>
            <button class="plain" onClick={() => go({ at: `@c${why.value.snapshots?.last ?? 0}` })}>
              Go to @c{why.value.snapshots.last}, its last call
            </button>
          </>
        )}
        <button class="plain" onClick={() => go({ show: null, at: at ?? reference ?? 'open', node: row.id })}>
          All of the node
        </button>
      </p>
    </div>
  );
};

const Message = ({
  content,
  isCall,
}: {
  readonly content: unknown;
  readonly isCall: boolean;
}): ComponentChildren => {
  const call = isCall ? readToolCall(content) : null;
  if (call !== null) return <ToolCall call={call} />;
  const excerpt = excerptOf(content, 20_000);
  return excerpt === null ? <p class="quiet">no content</p> : <Content content={excerpt} />;
};

const Life = ({
  why,
  history,
  at,
  reference,
}: {
  readonly why: WhyAnswer;
  readonly history: string;
  readonly at: string | null;
  readonly reference: string | undefined;
}): ComponentChildren => {
  const config = usePosition(history, reference, 'config', (client, position) =>
    client.config({ history, ...position }),
  );
  const most = config.state === 'done' ? config.value.config['max_blocks'] : null;
  const because = at === null ? null : removedBecause(why, typeof most === 'number' ? most : null);
  const { snapshots, added } = why;
  const by = 'actor' in added.author ? added.author.actor : added.author.recorder;
  return (
    <div class="opened-why">
      {because !== null && (
        <p>
          <b>
            <SafeText text={because.what} />
          </b>{' '}
          <SafeText text={because.how} />
        </p>
      )}
      <p class="quiet">
        {snapshots === null
          ? 'No call was shown it.'
          : `Came in at @c${snapshots.first}, seen by ${plural(snapshots.last - snapshots.first + 1, 'call')}, last at @c${snapshots.last}.`}{' '}
        Put in by <SafeText text={by} />.
      </p>
    </div>
  );
};
