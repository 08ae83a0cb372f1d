import { sha256Hex } from '@stemma/canonical';
import { collapsedGroups } from './collapsed-groups.ts';
import { compileWith, type Compilation, type StageHashes } from './compile.ts';
import type { StageName } from './config.ts';
import type { NodeFacts } from './describe-node.ts';
import { leafMeta, type LeafView } from './leaf-meta.ts';
import { turnDigits } from './node.ts';
import { printCanonical } from './print-exact.ts';
import type { Profile } from './profile.ts';
import { pythonStr } from './python-text.ts';
import { tasksOf } from './tasks.ts';
import { treeSelection, type TreeSelection } from './tree-selection.ts';
import { turnIds, turnsOf, type Turn } from './turns.ts';
import { ROOT_ID, type TreeViewNode } from './view-node.ts';

const TASKS_ID = 'ctrees:tasks';

/** A stage as a tree: turns, tasks, leaves, and groups of collapsed nodes. */
export type StageTreeView = {
  readonly root_id: string;
  readonly nodes: readonly TreeViewNode[];
  readonly stage: StageName;
  readonly selection: TreeSelection;
  readonly hashes: StageHashes & { readonly tree_sha256: string };
};

/**
 * The tree view of a stage (compiler-stages, Tree view), compiled with or without previews, whatever the configured
 * mode of HEADER, and without a prompt summary; so its z1 and z3 may differ from the compiler's.
 */
export const treeView = (
  compilation: Compilation,
  { stage, includePreviews }: { readonly stage: StageName; readonly includePreviews: boolean },
): StageTreeView => {
  const { profile, nodes, config } = compilation;
  const { output } = compileWith({
    ...compilation,
    config: {
      ...config,
      header: { ...config.header, mode: includePreviews ? 'sanitized_content' : 'hash_only' },
      promptSummary: null,
    },
  });
  const { HEADER } = output.stages;
  const selection = treeSelection(nodes, HEADER.selected_node_ids, stage, config.collapse);
  const turns = turnsOf(profile, nodes);
  const view: LeafView = {
    items: new Map(HEADER.messages.map((item) => [item.node_id, item])),
    selected: new Set(selection.candidate_ids),
    kept: new Set(selection.kept_ids),
    dropped: new Set(selection.dropped_ids),
    collapsed: new Set(selection.collapsed_ids),
  };
  const folds = stage === 'HEADER' || stage === 'FROZEN';
  const tree = [
    rootNode(stage, selection, output.hashes),
    ...turns.map(turnNode),
    ...taskNodes(nodes),
    ...leafNodes(profile, nodes, turns, view, stage),
    ...(folds ? collapsedGroups(profile, nodes, turns, selection.collapsed_ids) : []),
  ];
  return {
    root_id: ROOT_ID,
    nodes: tree,
    stage,
    selection,
    hashes: { ...output.hashes, tree_sha256: sha256Hex(printCanonical(tree.map(({ id }) => id))) },
  };
};

const rootNode = (stage: StageName, selection: TreeSelection, hashes: StageHashes): TreeViewNode => ({
  id: ROOT_ID,
  parent_id: null,
  kind: 'root',
  turn: null,
  label: 'C-Trees',
  meta: { stage, selection_sha256: selection.selection_sha256, ...hashes },
});

const turnNode = ({ given }: Turn): TreeViewNode => ({
  id: `ctrees:turn:${pythonStr(given)}`,
  parent_id: ROOT_ID,
  kind: 'turn',
  turn: given,
  label: `Turn ${pythonStr(given)}`,
  meta: {},
});

const taskId = (id: string): string => `ctrees:task:${id}`;

const taskNodes = (nodes: readonly NodeFacts[]): readonly TreeViewNode[] => {
  const tasks = tasksOf(nodes);
  if (tasks.length === 0) return [];
  const known = new Set(tasks.map(({ id }) => id));
  const head = { id: TASKS_ID, parent_id: ROOT_ID, kind: 'task_root', turn: null, label: 'Tasks', meta: {} };
  return [
    head,
    ...tasks.map(({ id, fields }): TreeViewNode => {
      const parent = fields.parent_task_id;
      const nested = parent !== undefined && parent !== id && known.has(parent);
      return {
        id: taskId(id),
        parent_id: nested ? taskId(parent) : TASKS_ID,
        kind: 'task',
        turn: null,
        label: `Task ${id}`,
        meta: fields,
      };
    }),
  ];
};

const leafNodes = (
  profile: Profile,
  nodes: readonly NodeFacts[],
  turns: readonly Turn[],
  view: LeafView,
  stage: StageName,
): readonly TreeViewNode[] => {
  const tasks = new Set(nodes.flatMap(({ task }) => (task === null ? [] : [task.id])));
  const parents = turnIds(turns);
  return nodes
    .filter((node) => isShown(node, view, stage))
    .map((node) => {
      const digits = turnDigits(profile, node.turn);
      // The engine looks a task up by its untrimmed id, so a padded one stays under its turn.
      const named = profile.compat ? node.task?.rawId : node.task?.id;
      return {
        id: `ctrees:node:${node.id}`,
        parent_id:
          named !== undefined && tasks.has(named) ? taskId(named) : (parents.get(digits ?? '') ?? ROOT_ID),
        kind: node.kind,
        turn: digits === null ? null : node.turn,
        label: node.label,
        meta: leafMeta(node, view),
      };
    });
};

const isShown = ({ id, kind }: NodeFacts, { dropped, collapsed }: LeafView, stage: StageName): boolean => {
  if (stage === 'RAW' || kind !== 'message') return true;
  return !dropped.has(id) && (stage === 'SPEC' || !collapsed.has(id));
};
