import {
  diffTrees,
  exportTree,
  NO_DEPTH,
  threadBytes,
  type FlatTree,
  type Headers,
  type ThreadMode,
  type TreeDiff,
} from '@stemma/context-tree';
import { isStemmaError } from '@stemma/errors';
import type { AppliedFrame, Step } from '@stemma/history';
import { referenceHistory, type ReferenceHistory } from '../reference-history.ts';

/** A history that a test changes step by step; the clock reads 1 unless a test sets it. */
export type TestSession = {
  readonly history: ReferenceHistory;
  /** One command on the root branch, or on the branch of `on`. */
  readonly submit: (...steps: readonly Step[]) => AppliedFrame;
  readonly on: (branchId: number, ...steps: readonly Step[]) => AppliedFrame;
  readonly tree: (branchId?: number, seq?: number | null) => FlatTree;
  readonly headers: (id: string, branchId?: number) => Headers;
  /** The shown `ttl` of each of these nodes, undefined for one that is not there. */
  readonly ttls: (...ids: readonly string[]) => (number | null | undefined)[];
  readonly export: (branchId?: number, seq?: number | null) => string;
  readonly thread: (branchId?: number, seq?: number | null, mode?: ThreadMode) => string;
  readonly diff: (from: number, to: number) => TreeDiff;
};

/** Steps as commands: one ends with each commit or import, for a snapshot is the position after its frame. */
const commandsOf = (steps: readonly Step[]): readonly (readonly Step[])[] => {
  const commands: Step[][] = [[]];
  for (const step of steps) {
    commands.at(-1)?.push(step);
    if (step.op === 'commit' || step.op === 'import') commands.push([]);
  }
  return commands.filter((command) => command.length > 0);
};

/** A session on a history that was begun with these steps; each commit among them ends a command. */
export const newSession = (...steps: readonly Step[]): TestSession => {
  const history = referenceHistory();
  const submit = (branchId: number, given: readonly Step[], clock: bigint): AppliedFrame =>
    commandsOf(given)
      .map((command) => history.submit(branchId, command, clock))
      .at(-1) as AppliedFrame;
  submit(0, steps, 0n);
  const tree = (branchId = 0, seq: number | null = null): FlatTree => history.tree(branchId, seq);
  return {
    history,
    tree,
    submit: (...more) => submit(0, more, 1n),
    on: (branchId, ...more) => submit(branchId, more, 1n),
    headers: (id, branchId = 0) => {
      const found = tree(branchId).headers[tree(branchId).indexOf(id) ?? -1];
      if (found === undefined) throw new Error(`there is no node ${id}`);
      return found;
    },
    ttls: (...ids) => ids.map((id) => tree().ttls[tree().indexOf(id) ?? -1]),
    export: (branchId, seq) => exportTree(tree(branchId, seq), history.payload),
    thread: (branchId, seq, mode) => threadBytes(tree(branchId, seq), history.payload, mode),
    diff: (from, to) => diffTrees(tree(0, from), tree(0, to), history.payload),
  };
};

export const started = (thread: ThreadMode = 'full'): TestSession =>
  newSession({ op: 'start', name: null, thread });

export const imported = (root: object, cycle = 1, thread: ThreadMode = 'full'): TestSession =>
  newSession({ op: 'import', name: null, export: exportOf(root, cycle), thread });

export const exportOf = (root: object, cycle = 1): string =>
  JSON.stringify({ spec_version: 'PACT/0.1.0', cycle, root });

export const COMMIT: Step = { op: 'commit' };

type Parent = { readonly under?: string };

/** Inserts a block under `^ah`, or elsewhere; what is undefined is left out. */
export const block = (
  id: string,
  { under = '^ah', ...more }: Parent & Record<string, unknown> = {},
): Step => ({
  op: 'insert',
  parent: under,
  node: JSON.parse(JSON.stringify({ id, nodeType: 'cb', content: id, ...more })) as never,
});

/** Inserts a container that holds blocks (their ids, or ids with headers). */
export const box = (
  id: string,
  blocks: readonly (string | object)[],
  { under = '^ah', ...more }: Parent & Record<string, unknown> = {},
): Step => ({
  op: 'insert',
  parent: under,
  node: {
    id,
    nodeType: 'mc',
    children: blocks.map((each) =>
      typeof each === 'string' ? { id: each, nodeType: 'cb' } : { nodeType: 'cb', ...each },
    ),
    ...more,
  },
});

/** `[id, parent, depth]` of every node in document order. */
export const nodePlacements = (tree: FlatTree): [string, string | null, number | null][] =>
  tree.ids.map((id, i) => {
    const depth = tree.depths[i] ?? NO_DEPTH;
    return [id, tree.ids[tree.parents[i] ?? -1] ?? null, depth === NO_DEPTH ? null : depth];
  });

/** What a frame recorded: the types of its events, each with the id it is about. */
export const facts = (frame: AppliedFrame): string[] =>
  frame.events.map((event) => ('id' in event ? `${event.type} ${event.id}` : event.type));

/** The code with which something is refused, or `taken`. */
export const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (isStemmaError(error)) return error.code;
    throw error;
  }
  return 'taken';
};

/** The code with which a step is refused; a refusal that leaves a trace is reported instead. */
export const refused = (session: TestSession, step: Step): string => {
  const before = [session.history.frames.length, session.export()];
  const code = codeOf(() => session.submit(step));
  if (code === 'taken') return code;
  const after = [session.history.frames.length, session.export()];
  return JSON.stringify(after) === JSON.stringify(before) ? code : `${code}, and something changed`;
};

type Exported = { readonly id: string; readonly children?: readonly Exported[] } & Record<string, unknown>;

/** Every node of an export's text, a node before what it holds. */
export const exportedNodes = (text: string): Exported[] => {
  const all: Exported[] = [];
  const visit = (node: Exported): void => {
    all.push(node);
    node.children?.forEach(visit);
  };
  visit((JSON.parse(text) as { root: Exported }).root);
  return all;
};
