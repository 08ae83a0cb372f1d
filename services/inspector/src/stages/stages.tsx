import type { CtreeView } from '@stemma/api';
import { defined } from '@stemma/values';
import type { ComponentChildren } from 'preact';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import '../style/more-views.css';
import { useQuery } from '../asking/queries.ts';
import { grouped, plural } from '../parts/words.ts';
import type { PageView } from '../parts/page-view.ts';

const STAGES = ['RAW', 'SPEC', 'HEADER', 'FROZEN'] as const;
type Stage = (typeof STAGES)[number];

const WORDS: Readonly<Record<Stage, string>> = {
  RAW: 'everything that was recorded, in order',
  SPEC: 'what the selection keeps',
  HEADER: 'what is kept, with its headers',
  FROZEN: 'what is frozen for the call',
};

/** The four compiler stages of a call, and what is otherwise than at the call before. */
export const View: PageView = ({ address, looking, go }) => {
  const stage = STAGES.find((one) => one === address.part) ?? 'FROZEN';
  const cycle = looking?.cycle ?? null;
  const at = looking?.reference;
  const { history } = address;
  const now = useStage(history, at, stage);
  const before = useStage(history, cycle === null || cycle < 2 ? null : `@c${cycle - 1}`, stage);
  return (
    <div class="view-column">
      <div class="tabs" role="group" aria-label="Stage">
        {STAGES.map((one) => (
          <button
            key={one}
            class="tab"
            aria-pressed={one === stage}
            title={WORDS[one]}
            onClick={() => go({ part: one === 'FROZEN' ? null : one }, 'replace')}
          >
            {one}
          </button>
        ))}
      </div>
      <Shown query={now} what="stages">
        {(view) =>
          view === null ? null : (
            <StageView view={view} before={before.state === 'done' ? before.value : null} at={at ?? 'open'} />
          )
        }
      </Shown>
    </div>
  );
};

const useStage = (history: string, at: string | null | undefined, stage: Stage) =>
  useQuery(
    `now/h/${history}/stage/${stage}/${at ?? (at === null ? 'none' : 'open')}`,
    async (client): Promise<CtreeView | null> =>
      at === null
        ? null
        : client.ctreesTree({
            session: history,
            stage,
            include_previews: 'true',
            ...defined({ at }),
          }),
    `stage/${history}/${stage}/${at === null ? 'none' : ''}`,
  );

type Node = CtreeView['nodes'][number];

const isKept = ({ kind }: Node): boolean => kind !== 'root' && kind !== 'turn';

const StageView = ({
  view,
  before,
  at,
}: {
  readonly view: CtreeView;
  readonly before: CtreeView | null;
  readonly at: string;
}): ComponentChildren => {
  const { selection, hashes, stage } = view;
  const known = new Set(before?.nodes.map(({ id }) => id));
  const current = new Set(view.nodes.map(({ id }) => id));
  const gone = before === null ? [] : before.nodes.filter((node) => isKept(node) && !current.has(node.id));
  const entered =
    before === null ? 0 : view.nodes.filter((node) => isKept(node) && !known.has(node.id)).length;
  return (
    <section class="panel fills" aria-label="Stage">
      <header class="panel-head">
        <h2>
          {stage}{' '}
          <span class="at">
            <SafeText text={at} />
          </span>
        </h2>
        <span class="quiet">{WORDS[stage]}</span>
      </header>
      <p class="side-facts quiet">
        {plural(selection.candidate_count, 'candidate')}, {grouped(selection.kept_count)} kept,{' '}
        {grouped(selection.dropped_count)} dropped, {grouped(selection.collapsed_count)} collapsed,{' '}
        {grouped(selection.pinned_count)} pinned
        {before !== null && (
          <>
            {' · since the call before '}
            <span class="came">+{grouped(entered)}</span> <span class="gone">−{grouped(gone.length)}</span>
          </>
        )}
      </p>
      <dl class="facts stage-hashes">
        {Object.entries(hashes).map(([name, hash]) => {
          const old = before === null ? undefined : before.hashes[name as keyof typeof hashes];
          return (
            <div key={name}>
              <dt>{name}</dt>
              <dd title={hash}>
                <code>{hash.slice(0, 12)}</code>{' '}
                {old !== undefined && <span class="quiet">{old === hash ? 'as before' : 'changed'}</span>}
              </dd>
            </div>
          );
        })}
      </dl>
      <ol class="scroll stage-nodes" tabIndex={0} aria-label="Nodes of the stage">
        {gone.map((node) => (
          <li key={node.id} class="is-gone">
            <span class="sign gone">−</span> <StageNode node={node} />{' '}
            <span class="badge cause">{whyGone(node, selection)}</span>
          </li>
        ))}
        {inOrder(view.nodes).map((node) => (
          <li
            key={node.id}
            class={`stage-${node.kind === 'turn' || node.kind === 'root' ? node.kind : 'node'}${before !== null && isKept(node) && !known.has(node.id) ? ' is-new' : ''}`}
          >
            <StageNode node={node} />
          </li>
        ))}
      </ol>
    </section>
  );
};

/** Most nodes of a stage that are shown. */
const MOST = 5_000;

/** The nodes of a tree, each before those below it. */
const inOrder = (nodes: readonly Node[]): readonly Node[] => {
  const below = new Map<string | null, Node[]>();
  for (const node of nodes) {
    const siblings = below.get(node.parent_id);
    if (siblings === undefined) below.set(node.parent_id, [node]);
    else siblings.push(node);
  }
  const ordered: Node[] = [];
  const walk = (parent: string | null): void => {
    for (const node of below.get(parent) ?? []) {
      ordered.push(node);
      walk(node.id);
    }
  };
  walk(null);
  return ordered.slice(0, MOST);
};

/** Why a stage has a node no more: ids of a selection stand in the ids of its tree behind a prefix. */
const whyGone = (
  { id }: Node,
  { dropped_ids: dropped, collapsed_ids: collapsed }: CtreeView['selection'],
): string => {
  const own = id.replace(/^ctrees:node:/, '');
  return dropped.includes(own) ? 'dropped' : collapsed.includes(own) ? 'collapsed' : 'no candidate any more';
};

const StageNode = ({ node }: { readonly node: Node }): ComponentChildren => (
  <>
    {isKept(node) && <span class="badge kind">{node.kind}</span>} <SafeText text={node.label} />{' '}
    {typeof node.meta['preview'] === 'string' && (
      <span class="quiet">
        <SafeText text={node.meta['preview']} />
      </span>
    )}
  </>
);
