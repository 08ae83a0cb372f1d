import { firstWords, type RemovedNode, type TreeNodeAnswer, type TreePage } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { FailedBadge, KindBadge, NewBadge, RoleBadge, TtlBadge } from '../parts/badges.tsx';
import { SafeText, visible } from '../parts/safe-text.tsx';
import { selectorOf, useScroll } from '../parts/scroll.ts';
import { rowsOf } from './use-tree.ts';
import { callWords, grouped, plural } from '../parts/words.ts';

type Props = {
  readonly page: TreePage;
  readonly chosen: string | null;
  /** What a selector matches. */
  readonly matched: readonly string[];
  readonly choose: (node: string) => void;
  readonly showMore: () => void;
};

/** The tree at a position: regions, turns, blocks; what is new in it marked. */
export const TreePane = ({ page, chosen, matched, choose, showMore }: Props): ComponentChildren => {
  const list = useRef<HTMLUListElement>(null);
  useScroll(list, `${page.position.branch} ${page.position.label}`, {
    first: '.is-new',
    chosen: selectorOf(chosen),
  });
  const levels = levelsOf(page.nodes);
  const matches = new Set(matched);
  const first = page.nodes.some(({ id }) => id === chosen) ? chosen : page.nodes[0]?.id;
  return (
    <ul
      class="tree"
      ref={list}
      role="tree"
      aria-label={`Context tree at ${page.position.label}`}
      onKeyDown={moveFocus}
    >
      {rowsOf(page).map((row) =>
        'gap' in row ? (
          <li class="gap" role="none" key="gap">
            <button onClick={showMore}>{plural(row.gap, 'node')} not shown: show more</button>
          </li>
        ) : (
          <TreeRow
            key={row.node.id}
            node={row.node}
            level={levels.get(row.node.id) ?? 1}
            chosen={row.node.id === chosen}
            isMatch={matches.has(row.node.id)}
            tabbable={row.node.id === first}
            allNew={page.previous === null}
            choose={choose}
          />
        ),
      )}
    </ul>
  );
};

/** How deep each node lies: 1 for the root. A node whose parent is not shown has the usual depth of its kind. */
const levelsOf = (nodes: readonly TreeNodeAnswer[]): ReadonlyMap<string, number> => {
  const levels = new Map<string, number>();
  for (const { id, parent, shape, region } of nodes) {
    const above = parent === null ? 0 : levels.get(parent);
    levels.set(id, above === undefined ? (shape === 'turn' || region !== '^seq' ? 3 : 4) : above + 1);
  }
  return levels;
};

/** Up, down, home and end go through the nodes of the tree; Enter or space opens the one that has the focus. */
const moveFocus = (event: KeyboardEvent): void => {
  const tree = event.currentTarget;
  if (!(tree instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.altKey) return;
  const items = [...tree.querySelectorAll<HTMLElement>('[role=treeitem]')];
  const now = items.findIndex((item) => item === document.activeElement);
  const next = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: items.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  items[Math.max(0, Math.min(items.length - 1, next))]?.focus();
};

const TreeRow = ({
  node,
  level,
  chosen,
  isMatch,
  tabbable,
  allNew,
  choose,
}: {
  readonly node: TreeNodeAnswer;
  readonly level: number;
  readonly chosen: boolean;
  readonly isMatch: boolean;
  readonly tabbable: boolean;
  readonly allNew: boolean;
  readonly choose: (node: string) => void;
}): ComponentChildren => {
  const isNew = node.new && !allNew && node.shape !== 'root' && node.shape !== 'region';
  return (
    <li
      class={`node shape-${node.shape}${isNew ? ' is-new' : ''}${isMatch ? ' is-match' : ''}`}
      role="treeitem"
      aria-level={level}
      aria-selected={chosen}
      tabIndex={tabbable ? 0 : -1}
      data-node={node.id}
      style={{ paddingLeft: `${Math.max(0, level - 2) * 14 + 10}px` }}
      onClick={() => choose(node.id)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        choose(node.id);
      }}
    >
      <NodeWords node={node} />
      <span class="node-marks">
        {node.changed
          .filter((field) => field !== 'ttl')
          .map((field) => (
            <span
              class="badge changed"
              key={field}
              title={`${visible(fieldWord(field))} differs from the previous snapshot`}
            >
              {fieldWord(field)} changed
            </span>
          ))}
        <TtlBadge ttl={node.ttl} aged={node.changed.includes('ttl')} />
        {isNew && <NewBadge />}
      </span>
    </li>
  );
};

/** The tree compares contents by their hash. */
const fieldWord = (field: string): string => (field === 'content_hash' ? 'content' : field);

const REGIONS: Readonly<Record<string, string>> = {
  '^sys': 'system header',
  '^seq': 'sealed turns',
  '^ah': 'active head',
};

const NodeWords = ({ node }: { readonly node: TreeNodeAnswer }): ComponentChildren => {
  switch (node.shape) {
    case 'root':
      return <span class="node-title">root</span>;
    case 'region':
      return (
        <span class="node-title">
          {REGIONS[node.region ?? '']} <code class="quiet">{node.region}</code>
        </span>
      );
    case 'turn':
      return (
        <span class="node-title">
          turn <span class="depth">depth {grouped(node.depth ?? 0)}</span>{' '}
          <span class="quiet">cycle {grouped(node.cycle)}</span>
        </span>
      );
    case 'container':
      return (
        <span class="node-title">
          <code>
            <SafeText text={node.nodeType} />
          </code>{' '}
          <span class="quiet">{offsetWord(node.offset)}</span>
        </span>
      );
    case 'block':
      return (
        <>
          <RoleBadge role={node.thread?.role ?? node.role} />
          <KindBadge kind={node.kind} />
          <FailedBadge node={node} />
          {node.offset !== 0 && <span class="badge">{offsetWord(node.offset)}</span>}
          <span class="node-content">
            <BlockWords content={node.content} />
          </span>
        </>
      );
  }
};

const BlockWords = ({ content }: Pick<TreeNodeAnswer, 'content'>): ComponentChildren => {
  if (content === null) return <i class="quiet">no content</i>;
  if (content.text === '') return <i class="quiet">empty</i>;
  const call = content.form === 'json' && content.complete ? callWords(content.text) : undefined;
  return <SafeText text={firstWords(call ?? content.text, 140)} />;
};

const offsetWord = (offset: number): string =>
  offset === 0 ? 'core' : offset < 0 ? `pre ${offset}` : `post +${offset}`;

/** The nodes that the snapshot before had and this one has not, and why. */
export const RemovedNodes = ({ page }: { readonly page: TreePage }): ComponentChildren => (
  <section class="removed" aria-label="Removed nodes">
    <h3>
      {grouped(page.removedTotal)} removed since {page.previous?.label}
    </h3>
    <ul>
      {page.removed.map((node) => (
        <RemovedRow key={node.id} node={node} />
      ))}
    </ul>
    {page.removed.length < page.removedTotal && (
      <p class="quiet">and {plural(page.removedTotal - page.removed.length, 'more', 'more')}</p>
    )}
  </section>
);

const RemovedRow = ({ node }: { readonly node: RemovedNode }): ComponentChildren => (
  <li class="node is-gone" title={visible(node.id)}>
    {node.content === null ? (
      <span class="node-title">
        <SafeText text={node.nodeType} />
      </span>
    ) : (
      <>
        <RoleBadge role={node.role} />
        <KindBadge kind={node.kind} />
        <span class="node-content">
          <SafeText text={firstWords(node.content.text, 140)} />
        </span>
      </>
    )}
    <span class="node-marks">
      <span class="badge cause">{node.cause ?? 'removed'}</span>
    </span>
  </li>
);
