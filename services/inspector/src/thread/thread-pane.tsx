import { excerptOf, type TreeNodeAnswer, type TreePage } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { FailedBadge, KindBadge, NewBadge, roleClass, TtlBadge } from '../parts/badges.tsx';
import { Content } from '../parts/content.tsx';
import { readToolCall, valueOfExcerpt } from '../parts/read-tool-call.ts';
import { SafeText, visible } from '../parts/safe-text.tsx';
import { ToolCall } from '../parts/tool-call.tsx';
import { selectorOf, useScroll } from '../parts/scroll.ts';
import { rowsOf, usePosition } from '../tree/use-tree.ts';
import { plural } from '../parts/words.ts';

type Props = {
  readonly page: TreePage;
  readonly history: string;
  readonly reference: string | undefined;
  readonly chosen: string | null;
  readonly choose: (node: string) => void;
  readonly showMore: () => void;
};

/** The provider thread at a position, as the model sees it: its blocks in order, what is new in it marked. */
export const ThreadPane = ({
  page,
  history,
  reference,
  chosen,
  choose,
  showMore,
}: Props): ComponentChildren => {
  const list = useRef<HTMLOListElement>(null);
  useScroll(list, `${page.position.branch} ${page.position.label}`, {
    first: '.first-new',
    chosen: selectorOf(chosen),
  });

  const rows = rowsOf(page).filter((row) => 'gap' in row || row.node.thread !== null);
  const marked = page.previous !== null;
  const firstNew = marked ? rows.find((row) => 'node' in row && row.node.new) : undefined;
  if (rows.length === 0) return <p class="note">The thread is empty: the model sees nothing.</p>;
  return (
    <ol class="thread" ref={list} aria-label={`Provider thread at ${page.position.label}`}>
      {rows.map((row) =>
        'gap' in row ? (
          <li class="gap" key="gap">
            <button onClick={showMore}>{plural(row.gap, 'node')} not shown: show more</button>
          </li>
        ) : (
          <Message
            key={row.node.id}
            node={row.node}
            history={history}
            reference={reference}
            isNew={marked && row.node.new}
            since={row === firstNew ? (page.previous?.label ?? null) : null}
            chosen={row.node.id === chosen}
            choose={choose}
          />
        ),
      )}
    </ol>
  );
};

const Message = ({
  node,
  history,
  reference,
  isNew,
  since,
  chosen,
  choose,
}: {
  readonly node: TreeNodeAnswer;
  readonly history: string;
  readonly reference: string | undefined;
  readonly isNew: boolean;
  /** Set on the first new one: the snapshot that did not have it. */
  readonly since: string | null;
  readonly chosen: boolean;
  readonly choose: (node: string) => void;
}): ComponentChildren => {
  const role = node.thread?.role;
  return (
    <li
      class={`message ${roleClass(role)}${isNew ? ' is-new' : ''}${since === null ? '' : ' first-new'}${chosen ? ' is-chosen' : ''}`}
      data-node={node.id}
    >
      {since !== null && (
        <p class="since">
          <span>new since {since}</span>
        </p>
      )}
      <header>
        <button
          class="message-role"
          title={`Show all headers of ${visible(node.id)}`}
          aria-pressed={chosen}
          onClick={() => choose(node.id)}
        >
          <SafeText text={role === null ? 'null' : (role ?? '')} />
        </button>
        <KindBadge kind={node.thread?.kind} />
        <FailedBadge node={node} />
        <TtlBadge ttl={node.ttl} aged={node.changed.includes('ttl')} />
        {isNew && <NewBadge />}
        <code class="message-id quiet">
          <SafeText text={node.id} />
        </code>
      </header>
      <MessageBody node={node} history={history} reference={reference} />
    </li>
  );
};

/** A part of a content that is likely to have a picture behind its beginning. */
const PICTURE = /"data:image\/|"image\/(?:png|jpeg|gif|webp)"/;

const MessageBody = ({
  node,
  history,
  reference,
}: {
  readonly node: TreeNodeAnswer;
  readonly history: string;
  readonly reference: string | undefined;
}): ComponentChildren => {
  const [whole, setWhole] = useState(false);
  if (node.content === null) return <p class="quiet message-none">no content</p>;
  if (whole)
    return (
      <Whole node={node.id} isCall={node.thread?.kind === 'call'} history={history} reference={reference} />
    );
  const call = node.thread?.kind === 'call' ? readToolCall(valueOfExcerpt(node.content)) : null;
  if (call !== null) return <ToolCall call={call} />;
  return (
    <>
      <Content content={node.content} />
      {!node.content.complete && (
        <button class="more" onClick={() => setWhole(true)}>
          Show {PICTURE.test(node.content.text) ? 'the picture' : 'all'},{' '}
          {plural(node.content.characters, 'character')}
        </button>
      )}
    </>
  );
};

const Whole = ({
  node,
  isCall,
  history,
  reference,
}: {
  readonly node: string;
  readonly isCall: boolean;
  readonly history: string;
  readonly reference: string | undefined;
}): ComponentChildren => {
  const query = usePosition(history, reference, `node/${node}`, (client, at) =>
    client.node({ history, node, ...at }),
  );
  if (query.state === 'failed') return <p class="quiet">{query.error.message}</p>;
  if (query.state === 'pending') return <p class="quiet">Loading…</p>;
  const call = isCall ? readToolCall(query.value.payload['content']) : null;
  if (call !== null) return <ToolCall call={call} />;
  const content = excerptOf(query.value.payload['content']);
  return content && <Content content={content} />;
};
