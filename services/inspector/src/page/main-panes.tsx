import type { SnapshotPage, TreePage } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Address, Go, View } from './address.ts';
import { BytesPane } from '../thread/bytes-pane.tsx';
import { CallAnswer, CallBar } from '../calls/call-bar.tsx';
import { TextsAs } from '../parts/content.tsx';
import { Detail } from '../tree/detail.tsx';
import { HeldBar } from '../calls/held-bar.tsx';
import { InterventionDetail } from '../interventions/intervention-detail.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { SelectorBar, useMatches } from '../search/selector-bar.tsx';
import { Shown } from '../asking/states.tsx';
import { ThreadPane } from '../thread/thread-pane.tsx';
import { RemovedNodes, TreePane } from '../tree/tree-pane.tsx';
import type { Query } from '../asking/queries.ts';
import { useSnapshot, type Looking } from '../cycles/use-cycles.ts';
import { MORE, TAIL, useTree } from '../tree/use-tree.ts';
import { grouped } from '../parts/words.ts';

const TABS: readonly (readonly [View, string])[] = [
  ['tree', 'Tree'],
  ['thread', 'Thread'],
  ['bytes', 'Bytes'],
  ['openai', 'OpenAI messages'],
];

/** The tree and the thread at the position shown, and the selected node. */
export const MainPanes = ({
  history,
  looking,
  head,
  address: { node, intervention, view, select, texts },
  go,
}: {
  readonly history: string;
  readonly looking: Looking;
  readonly head: Query<SnapshotPage>;
  readonly address: Address;
  readonly go: Go;
}): ComponentChildren => {
  const { reference } = looking;
  const [more, setMore] = useState(0);
  const tree = useTree(history, reference, TAIL + more * MORE);
  const choose = (id: string): void => go({ node: id === node ? null : id });
  const shown: ShownTree = {
    history,
    reference,
    tree,
    page: tree.state === 'done' ? tree.value : undefined,
    node,
    choose,
    showMore: () => setMore(more + 1),
    go,
  };
  return (
    <TextsAs.Provider value={texts}>
      <div
        class={`panes view-${view}${node === null && intervention === null ? '' : ' with-detail'}`}
        aria-busy={tree.state === 'done' && tree.stale}
      >
        <TreePanel {...shown} selector={select ?? ''} />
        <ThreadPanel {...shown} view={view} texts={texts} head={head} cycle={looking.cycle} />
        {intervention !== null && node === null && (
          <InterventionDetail history={history} intervention={intervention} go={go} />
        )}
        {node !== null && (
          <Detail history={history} reference={reference} node={node} choose={choose} go={go} />
        )}
      </div>
    </TextsAs.Provider>
  );
};

/** What both panels show: the tree at a position, and the node chosen in it. */
type ShownTree = {
  readonly history: string;
  /** The position that is looked at; undefined: the draft. */
  readonly reference: string | undefined;
  readonly tree: Query<TreePage>;
  /** Undefined until the tree is there. */
  readonly page: TreePage | undefined;
  readonly node: string | null;
  readonly choose: (id: string) => void;
  readonly showMore: () => void;
  readonly go: Go;
};

const TreePanel = ({
  history,
  reference,
  tree,
  page,
  node,
  choose,
  showMore,
  go,
  selector,
}: ShownTree & { readonly selector: string }): ComponentChildren => {
  const matches = useMatches(history, reference, selector);
  return (
    <section class="panel tree-panel" aria-label="Context tree">
      <header class="panel-head">
        <h2>
          Tree{' '}
          <span class="at">
            <SafeText text={reference ?? 'open'} />
          </span>
        </h2>
        {page !== undefined && (
          <span class="quiet">
            {grouped(page.total)} nodes
            {page.previous !== null && `, ${grouped(page.added)} new since ${page.previous.label}`}
          </span>
        )}
      </header>
      <SelectorBar history={history} reference={reference} selector={selector} node={node} go={go} />
      <div class="pane scroll" tabIndex={-1}>
        <Shown query={tree} what="tree">
          {(value) => (
            <TreePane
              page={value}
              chosen={node}
              matched={matches.state === 'done' ? matches.value : []}
              choose={choose}
              showMore={showMore}
            />
          )}
        </Shown>
      </div>
      {page !== undefined && page.removedTotal > 0 && <RemovedNodes page={page} />}
    </section>
  );
};

const ThreadPanel = ({
  history,
  reference,
  tree,
  page,
  node,
  choose,
  showMore,
  go,
  view,
  texts,
  head,
  cycle,
}: ShownTree &
  Pick<Address, 'view' | 'texts'> & {
    readonly head: Query<SnapshotPage>;
    readonly cycle: number | null;
  }): ComponentChildren => {
  const isRaw = view === 'bytes' || view === 'openai';
  return (
    <section class="panel thread-panel" aria-label="Provider thread">
      <header class="panel-head">
        <h2>{page === undefined || page.position.committed ? 'Shown to the model' : 'Shown next'}</h2>
        <ViewTabs view={view} texts={texts} go={go} />
      </header>
      <HeldBar history={history} go={go} />
      {head.state === 'done' && cycle !== null && <BarOfCycle page={head.value} cycle={cycle} />}
      <div class="pane scroll" tabIndex={0} role="region" aria-label="Provider thread, content">
        {isRaw ? (
          <BytesPane
            history={history}
            reference={reference}
            provider={view === 'openai' ? 'openai' : null}
            chosen={node}
            choose={choose}
          />
        ) : (
          <Shown query={tree} what="thread">
            {(value) => (
              <ThreadPane
                page={value}
                history={history}
                reference={reference}
                chosen={node}
                choose={choose}
                showMore={showMore}
              />
            )}
          </Shown>
        )}
        {!isRaw && head.state === 'done' && cycle !== null && (
          <CallAnswer history={history} page={head.value} cycle={cycle} />
        )}
      </div>
    </section>
  );
};

const BarOfCycle = ({
  page,
  cycle,
}: {
  readonly page: SnapshotPage;
  readonly cycle: number;
}): ComponentChildren => {
  const snapshot = useSnapshot(page, cycle);
  return snapshot === undefined ? null : <CallBar snapshot={snapshot} />;
};

/** What the thread is shown as. */
const ViewTabs = ({
  view,
  texts,
  go,
}: Pick<Address, 'view' | 'texts'> & { readonly go: Go }): ComponentChildren => (
  <div class="tabs" role="group" aria-label="View">
    {TABS.map(([name, words]) => (
      <button
        key={name}
        class={`tab tab-${name}`}
        aria-pressed={view === name || (name === 'thread' && view === 'tree')}
        onClick={() => go({ view: name })}
      >
        {words}
      </button>
    ))}
    <button
      class="tab"
      aria-pressed={texts === 'rendered'}
      title="Texts as they are, or as the Markdown or JSON that they may be (m)"
      onClick={() => go({ texts: texts === 'rendered' ? 'plain' : 'rendered' }, 'replace')}
    >
      Rendered
    </button>
  </div>
);
