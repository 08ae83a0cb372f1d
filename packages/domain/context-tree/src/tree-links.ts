import { canonicalJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { textOf, type Digests } from './digests.ts';
import { NODE_KIND } from './flat-tree.ts';
import type { Journal } from './journal.ts';
import type { LifetimeIndex } from './lifetime-index.ts';
import type { FixedName, NodeRecord, Payload, RecordChange, TurnRecord } from './node.ts';
import { headersOf, idOf, insertionIndex, isFixed, type AnyRecord, type TreeNode } from './tree-node.ts';

/** The error for a record that does not fit the tree. */
export const defect = (message: string): Error => fail('E_HISTORY_DEFECTIVE', message);

const taken = (id: string): Error => defect(`the id ${id} is there already`);

/** Links of nodes in both directions, the index by id and the indexes of lifetimes; the journal records each step. */
export class TreeLinks {
  readonly index = new Map<string, TreeNode>();
  blocks = 0;
  /** Nodes whose container was removed: they must be removed in the same frame. */
  loose = 0;
  readonly #journal: Journal;
  readonly #digests: Digests;
  readonly #lifetimes: LifetimeIndex;

  /** The node with an id, loaded or not. */
  readonly #find: (id: string) => TreeNode | undefined;

  constructor(
    journal: Journal,
    digests: Digests,
    lifetimes: LifetimeIndex,
    find: (id: string) => TreeNode | undefined,
  ) {
    this.#find = find;
    this.#journal = journal;
    this.#digests = digests;
    this.#lifetimes = lifetimes;
  }

  existing(id: string): TreeNode {
    const node = this.#find(id);
    if (node === undefined) throw defect(`there is no node ${id}`);
    return node;
  }

  refuseTaken(id: string): void {
    if (this.#find(id) !== undefined) throw taken(id);
  }

  /** Adds a node to the indexes, linked or not. */
  add(node: TreeNode): TreeNode {
    if (this.index.has(idOf(node))) throw taken(idOf(node));
    this.index.set(idOf(node), node);
    if (node.kind === NODE_KIND.block) this.blocks++;
    this.#digests.texts += textOf(node);
    this.#lifetimes.enter(node);
    return node;
  }

  /** Takes a node out of the indexes. */
  drop(node: TreeNode): void {
    this.#lifetimes.leave(node);
    if (node.kind === NODE_KIND.block) this.blocks--;
    this.#digests.texts -= textOf(node);
    this.index.delete(idOf(node));
  }

  /** Links a new node below its parent. */
  enter(node: TreeNode): void {
    this.add(node);
    this.link(node);
    this.#digests.markDirty(node, true);
    this.#journal.undo(() => {
      this.#digests.markDirty(node, true);
      this.unlink(node);
      this.drop(node);
      node.alive = false;
    });
    this.#journal.change(changeOf(node, undefined, node.record));
  }

  /** Removes a node. The children of a container stay linked to it, so that undoing is cheap. */
  leave(node: TreeNode): void {
    const parent = node.parent as TreeNode;
    const orphans = (node.kids ?? []).reduce((count, kid) => count + (kid.alive ? 1 : 0), 0);
    const change = orphans - (parent.alive ? 0 : 1);
    this.#digests.markDirty(node, true);
    if (parent.alive) this.unlink(node);
    this.drop(node);
    node.alive = false;
    this.loose += change;
    this.#journal.undo(() => {
      this.loose -= change;
      node.alive = true;
      this.add(node);
      if (parent.alive) this.link(node);
      this.#digests.markDirty(node, true);
    });
    this.#journal.change(changeOf(node, node.record, undefined));
  }

  /** Links a node below another parent. */
  relink(node: TreeNode, parent: TreeNode): void {
    const before = node.parent as TreeNode;
    const hang = (below: TreeNode): void => {
      this.#digests.markDirty(node, true);
      this.unlink(node);
      node.parent = below;
      this.link(node);
      this.#digests.markDirty(node, true);
    };
    hang(parent);
    this.#journal.undo(() => hang(before));
  }

  link(node: TreeNode): void {
    const parent = node.parent as TreeNode;
    const kids = parent.kids as TreeNode[];
    const at = insertionIndex(kids, headersOf(node));
    if (at === kids.length) kids.push(node);
    else kids.splice(at, 0, node);
    if (parent.kind === NODE_KIND.seq) this.#digests.turnsMoved(at);
  }

  unlink(node: TreeNode): void {
    const parent = node.parent as TreeNode;
    const kids = parent.kids as TreeNode[];
    const at = insertionIndex(kids, headersOf(node));
    if (at === kids.length - 1) kids.pop();
    else kids.splice(at, 1);
    if (parent.kind === NODE_KIND.seq) this.#digests.turnsMoved(at);
  }

  setRecord(node: TreeNode, record: AnyRecord): void {
    const before = node.record;
    const set = (next: AnyRecord): void => {
      this.#lifetimes.leave(node);
      node.record = next;
      this.#lifetimes.enter(node);
    };
    set(record);
    this.#journal.undo(() => {
      set(before);
      this.#digests.markDirty(node, true);
    });
    this.#journal.change(changeOf(node, before, record));
  }

  setContents(node: TreeNode, contents: Payload): void {
    const { content, extras, json } = node;
    const change = (to: () => void): void => {
      this.#digests.texts -= textOf(node);
      to();
      this.#digests.texts += textOf(node);
    };
    change(() => readContents(node, contents));
    this.#journal.undo(() => change(() => Object.assign(node, { content, extras, json })));
  }
}

const FIXED_OF: { readonly [kind: number]: FixedName | undefined } = {
  [NODE_KIND.root]: 'root',
  [NODE_KIND.sys]: 'sys',
  [NODE_KIND.seq]: 'seq',
  [NODE_KIND.ah]: 'ah',
};

const changeOf = (
  node: TreeNode,
  before: AnyRecord | undefined,
  after: AnyRecord | undefined,
): RecordChange => {
  const id = idOf(node);
  if (node.kind === NODE_KIND.turn)
    return { turn: id, before: before as TurnRecord | undefined, after: after as TurnRecord | undefined };
  if (isFixed(node)) return { fixed: FIXED_OF[node.kind] as FixedName, before, after: after as AnyRecord };
  return { node: id, before: before as NodeRecord | undefined, after: after as NodeRecord | undefined };
};

/** Reads from a payload what digests and slices need. The content is hashed when a digest asks for it. */
export const readContents = (node: TreeNode, contents: Payload): void => {
  const { content } = contents;
  if (content === undefined) {
    node.content = null;
    node.json = node.kind === NODE_KIND.block ? '""' : undefined;
  } else {
    node.json = canonicalJson(content);
    node.content = undefined;
  }
  let extras: Record<string, Payload[string]> | null = null;
  for (const name in contents)
    if (name !== 'content') (extras ??= {})[name] = contents[name] as Payload[string];
  node.extras = extras;
};
