import { toWireJson, type NodeDetail } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import type { Go } from '../page/address.ts';
import { Contents } from '../parts/content.tsx';
import { Copy } from '../parts/copy.tsx';
import { NodeTimeline } from './node-timeline.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import { usePosition } from './use-tree.ts';

/** Everything about the selected node: headers, position in the tree, content. */
export const Detail = ({
  history,
  reference,
  node,
  choose,
  go,
}: {
  readonly history: string;
  readonly reference: string | undefined;
  readonly node: string;
  readonly choose: (node: string) => void;
  readonly go: Go;
}): ComponentChildren => {
  const query = usePosition(history, reference, `node/${node}`, (client, at) =>
    client.node({ history, node, ...at }),
  );
  return (
    <aside class="panel detail" aria-label="Selected node">
      <header class="panel-head">
        <h2>
          <SafeText text={node} />
        </h2>
        <span class="tabs">
          <button class="plain" onClick={() => go({ dialog: 'edit' })}>
            Edit
          </button>
          <button class="plain" onClick={() => go({ dialog: 'remove' })}>
            Remove
          </button>
          <button class="plain" onClick={() => go({ node: null })} title="Close (Esc)">
            Close
          </button>
        </span>
      </header>
      <div class="scroll detail-body">
        <Shown query={query} what="node">
          {(detail) => (
            <>
              <Copies detail={detail} history={history} />
              <Facts detail={detail} choose={choose} />
              <div class="payload">
                <NodeTimeline history={history} reference={reference} node={node} go={go} />
                <Contents values={detail.payload} />
                {Object.keys(detail.payload).length === 0 && <p class="quiet">This node has no content.</p>}
              </div>
            </>
          )}
        </Shown>
      </div>
    </aside>
  );
};

/** The node as others take it: its text, all of it as JSON, the address of this page, the command that prints it. */
const Copies = ({
  detail,
  history,
}: {
  readonly detail: NodeDetail;
  readonly history: string;
}): ComponentChildren => {
  const { content } = detail.payload;
  const { id } = detail.headers;
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  return (
    <p class="copies">
      {typeof content === 'string' && <Copy text={content} words="text" />}
      <Copy text={toWireJson({ ...detail.headers, ...detail.payload })} words="JSON" />
      <Copy text={location.href} words="link" />
      <Copy
        text={`stemma show ${quoted(history)} ${detail.position.label} ${quoted(`#${id}`)}`}
        words="as a command"
      />
    </p>
  );
};

const Facts = ({
  detail,
  choose,
}: {
  readonly detail: NodeDetail;
  readonly choose: (node: string) => void;
}): ComponentChildren => (
  <dl class="facts">
    <Fact name="at" value={detail.position.label} />
    <Fact name="region" value={detail.region ?? 'none'} />
    <Fact name="depth" value={detail.depth === null ? 'none' : String(detail.depth)} />
    {detail.parent !== null && (
      <div>
        <dt>parent</dt>
        <dd>
          <NodeLink id={detail.parent} choose={choose} />
        </dd>
      </div>
    )}
    {Object.entries(detail.headers).map(([name, value]) =>
      name === 'refs' && Array.isArray(value) ? (
        <div key={name}>
          <dt>refs</dt>
          <dd>
            {(value as readonly string[]).map((id) => (
              <NodeLink key={id} id={id} choose={choose} />
            ))}
          </dd>
        </div>
      ) : (
        <Fact key={name} name={name} value={typeof value === 'string' ? value : toWireJson(value)} />
      ),
    )}
    <Fact name="expires" value={detail.expires === null ? 'never' : `in cycle ${detail.expires}`} />
    {detail.children.length > 0 && <Fact name="children" value={String(detail.children.length)} />}
  </dl>
);

const Fact = ({ name, value }: { readonly name: string; readonly value: string }): ComponentChildren => (
  <div>
    <dt>{name}</dt>
    <dd>
      <SafeText text={value} />
    </dd>
  </div>
);

const NodeLink = ({
  id,
  choose,
}: {
  readonly id: string;
  readonly choose: (node: string) => void;
}): ComponentChildren => (
  <button class="link" onClick={() => choose(id)}>
    <SafeText text={id} />
  </button>
);
