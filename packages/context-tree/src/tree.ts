import { canonicalJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { hash } from 'node:crypto';
import { Digests, type Flushed } from './digests.ts';
import { NODE_KIND, type TreeParts } from './flat-tree.ts';
import { LifetimeIndex } from './lifetime-index.ts';
import type {
  Change,
  EventRef,
  FixedName,
  Headers,
  NodeRecord,
  Payload,
  PayloadSource,
  Place,
  TurnRecord,
} from './node.ts';
import { kindOfType } from './node-type.ts';
import type { ThreadMode } from './policy.ts';
import { plant } from './plant.ts';
import {
  eachInSubtree,
  headersOf,
  idOf,
  isFixed,
  makeTreeNode,
  placeAmong,
  type AnyRecord,
  type TreeNode,
} from './tree-node.ts';

/** How many there are: all nodes with root and regions, blocks, turns. */
export type Counts = { readonly nodes: number; readonly blocks: number; readonly turns: number };

/** A place in the journal, to go back to. */
export type Mark = { readonly undos: number; readonly changes: number };

export type Hashes = { readonly treeHash: Uint8Array; readonly threadHash: Uint8Array };

type Undo = () => void;

const SYS: Place = { kind: 'sys', number: 0 };

/**
 * The working tree of a lineage: what there is, indexes beside it, and a journal by which every change can be taken
 * back. A change costs what it touches, never what the tree holds. It keeps rules of structure only (a parent exists and
 * can hold, an id is there or not): which changes are allowed, and when, is decided before (placement, plan-commit).
 */
export class Tree {
  readonly mode: ThreadMode;
  /** The cycle of the newest commit or import. */
  cycle: number;
  readonly root: TreeNode;
  readonly sys: TreeNode;
  readonly seq: TreeNode;
  /** The open head. A new one after every commit that seals. */
  ah: TreeNode;
  readonly lifetimes = new LifetimeIndex();
  readonly #index = new Map<string, TreeNode>();
  readonly #digests: Digests;
  readonly #undos: Undo[] = [];
  readonly #changes: Change[] = [];
  #blocks = 0;
  /** Nodes whose container has gone: their own removal must follow in the same frame. */
  #loose = 0;

  /** `known`: the parts are root and regions only, so that no payload has to be read for the first hash. */
  constructor(parts: TreeParts, mode: ThreadMode, known = false) {
    this.mode = mode;
    this.cycle = parts.cycle;
    const fixed = (name: FixedName): TreeNode =>
      this.#add(makeTreeNode(NODE_KIND[name], parts.fixed[name], null));
    this.root = fixed('root');
    this.sys = fixed('sys');
    this.seq = fixed('seq');
    this.ah = fixed('ah');
    this.root.kids = [this.sys, this.seq, this.ah];
    for (const region of this.root.kids) region.parent = this.root;
    this.#digests = new Digests(mode, known);
    plant(this, parts, (node) => this.#add(node));
  }

  get counts(): Counts {
    return { nodes: this.#index.size, blocks: this.#blocks, turns: this.turns.length };
  }

  /** The sealed turns, oldest first. */
  get turns(): readonly TreeNode[] {
    return this.seq.kids ?? [];
  }

  /** The node with this id, root and regions too. */
  get(id: string): TreeNode | undefined {
    return this.#index.get(id);
  }

  /** The cycle that runs: the next commit's. */
  get open(): number {
    return this.cycle + 1;
  }

  // Changes. Each throws E_HISTORY_DEFECTIVE and changes nothing when the tree does not allow it.

  /** Puts a node below `parentId`: a region but `^seq`, a turn, or a container. */
  insert(
    parentId: string,
    headers: Headers,
    expires: number | null,
    payload: EventRef,
    contents: Payload,
  ): void {
    const parent = this.#parent(parentId);
    this.#refuseTaken(headers.id);
    const kind = kindOfType(headers.nodeType);
    if (kind === NODE_KIND.turn) throw defect(`${headers.id} is a turn`);
    const own = parent.kind === NODE_KIND.container ? idOf(parent) : null;
    const node = makeTreeNode(
      kind,
      { headers, place: this.#placeIn(parent), parent: own, expires, payload },
      parent,
    );
    readContents(node, contents);
    this.#enter(node, parent);
    this.#changes.push({ node: headers.id, before: undefined, after: node.record as NodeRecord });
  }

  /** Adds a turn that an import brings. */
  addTurn(
    headers: Headers,
    expires: number | null,
    payload: EventRef,
    contents: Payload,
    ordinal: number,
    cycle: number,
  ): void {
    this.#refuseTaken(headers.id);
    const record: TurnRecord = { headers, place: { kind: 'turn', cycle, ordinal }, expires, payload };
    const node = makeTreeNode(NODE_KIND.turn, record, this.seq);
    readContents(node, contents);
    this.#enter(node, this.seq);
    this.#changes.push({ turn: headers.id, before: undefined, after: record });
  }

  /** Gives root or a region other headers (an import's); its id stays. */
  setFixed(name: FixedName, headers: Headers, payload: EventRef, contents: Payload): void {
    const node = this[name];
    if (idOf(node) !== headers.id) throw defect(`${headers.id} is not the ${name} of this history`);
    this.#setRecord(node, { headers, payload });
    this.#setContents(node, contents);
  }

  /** Gives a node another payload: content and attributes as they are now. */
  replace(id: string, payload: EventRef, contents: Payload): void {
    const node = this.#existing(id);
    this.#setRecord(node, { ...(node.record as NodeRecord), payload });
    this.#setContents(node, contents);
    this.#digests.touch(node, true);
  }

  /** Takes one node out. What it holds must be taken out next, in the same frame (see `settled`). */
  remove(id: string): void {
    const node = this.#existing(id);
    if (isFixed(node)) throw defect(`${id} is never removed`);
    this.#leave(node);
    this.#changes.push(changeOf(node, node.record, undefined));
  }

  /** Puts a node with what it holds below another parent; `expires` for those whose expiry that changes. */
  move(id: string, parentId: string, expires: ReadonlyMap<string, number | null>): void {
    const node = this.#existing(id);
    const parent = this.#parent(parentId);
    if (isFixed(node) || node.kind === NODE_KIND.turn) throw defect(`${id} is not moved`);
    for (let at: TreeNode | null = parent; at !== null; at = at.parent)
      if (at === node) throw defect(`${id} cannot lie in itself`);
    const place = this.#placeIn(parent);
    const own = parent.kind === NODE_KIND.container ? idOf(parent) : null;
    this.#digests.touch(node, true);
    this.#relink(node, parent);
    eachInSubtree(node, (each) => {
      const record = each.record as NodeRecord;
      const given = expires.get(idOf(each));
      const next = {
        ...record,
        place,
        parent: each === node ? own : record.parent,
        expires: given === undefined ? record.expires : given,
      };
      if (!samePlace(place, record.place) || each === node || given !== undefined)
        this.#setRecord(each, next);
    });
    this.#digests.touch(node, true);
  }

  /** A node that was due stays because of a reference: shown with `ttl` 0, due at every commit. */
  hold(id: string): void {
    const node = this.#existing(id);
    if (isFixed(node)) throw defect(`${id} is never due`);
    const record = node.record as NodeRecord;
    this.#setRecord(node, { ...record, headers: { ...record.headers, ttl: 0 }, expires: null });
    this.#digests.touch(node, false);
  }

  /** Gives a node another priority. */
  reprioritise(id: string, priority: number): void {
    const node = this.#existing(id);
    this.#setRecord(node, { ...node.record, headers: { ...headersOf(node), priority } } as AnyRecord);
    this.#digests.touch(node, false);
  }

  /** Makes the head a turn and opens a new, empty one. */
  seal(headers: Headers, payload: EventRef, contents: Payload): void {
    this.#refuseTaken(headers.id);
    const turn = this.ah;
    const fixed = turn.record;
    if ((turn.kids ?? []).length === 0) throw defect('an empty head gives no turn');
    const head = makeTreeNode(NODE_KIND.ah, fixed, this.root);
    const record: TurnRecord = {
      headers,
      place: { kind: 'turn', cycle: this.open, ordinal: 0 },
      expires: null,
      payload,
    };
    head.content = turn.content;
    head.extras = turn.extras;
    this.lifetimes.leave(turn);
    this.lifetimes.enter(head);
    this.#swapHead(head);
    turn.kind = NODE_KIND.turn;
    turn.record = record;
    turn.parent = this.seq;
    readContents(turn, contents);
    this.#link(turn, this.seq);
    this.#index.set(headers.id, turn);
    this.lifetimes.enter(turn);
    this.#digests.touch(turn, true);
    this.#undos.push(() => {
      this.#digests.touch(turn, true);
      this.lifetimes.leave(turn);
      this.#index.delete(headers.id);
      this.#unlink(turn);
      turn.kind = NODE_KIND.ah;
      turn.record = fixed;
      turn.parent = this.root;
      turn.content = head.content;
      turn.extras = head.extras;
      this.#swapHead(turn);
      this.lifetimes.leave(head);
      this.lifetimes.enter(turn);
    });
    this.#changes.push({ turn: headers.id, before: undefined, after: record });
  }

  /** Ends the cycle: everything shown is now as of `cycle`. */
  close(cycle: number): void {
    const before = this.cycle;
    this.cycle = cycle;
    this.#undos.push(() => (this.cycle = before));
  }

  /** True if something is still there that the newest commit was to take. */
  get overdue(): boolean {
    return this.lifetimes.anyDueAt(this.cycle);
  }

  /** True when nothing lies in a container that has gone. */
  get settled(): boolean {
    return this.#loose === 0;
  }

  /**
   * Tree hash and thread hash of the tree as a snapshot of its cycle: call it at a commit or import only (for a working
   * state see `hashFlat`). Costs what changed since the last call.
   *
   * @throws PayloadNeeded with nothing changed.
   */
  hashes(source: PayloadSource): Hashes {
    // What the next commit takes, or could take, shows `ttl` 0 from now on: the word in its digest changes.
    for (const node of this.lifetimes.dueAt(this.open)) this.#digests.touch(node, false);
    const flushed: Flushed = this.#digests.flush(this, this.cycle, source);
    this.#undos.push(() => this.#digests.unflush(this, flushed));
    const treeHash = this.#digests.treeHash(this, this.cycle, source);
    return { treeHash, threadHash: this.#digests.threadHash(this, source) };
  }

  // The journal.

  mark(): Mark {
    return { undos: this.#undos.length, changes: this.#changes.length };
  }

  /** The changes of records since `mark`, in order. */
  changesSince(mark: Mark): readonly Change[] {
    return this.#changes.slice(mark.changes);
  }

  /** Takes back everything since `mark`. */
  undoTo(mark: Mark): void {
    while (this.#undos.length > mark.undos) (this.#undos.pop() as Undo)();
    this.#changes.length = mark.changes;
  }

  /** Forgets how to take back; marks taken before are void. */
  forget(): void {
    this.#undos.length = 0;
    this.#changes.length = 0;
  }

  #add(node: TreeNode): TreeNode {
    this.#refuseTaken(idOf(node));
    this.#index.set(idOf(node), node);
    if (node.kind === NODE_KIND.block) this.#blocks++;
    this.lifetimes.enter(node);
    return node;
  }

  #drop(node: TreeNode): void {
    this.lifetimes.leave(node);
    if (node.kind === NODE_KIND.block) this.#blocks--;
    this.#index.delete(idOf(node));
  }

  #enter(node: TreeNode, parent: TreeNode): void {
    this.#add(node);
    this.#link(node, parent);
    this.#digests.touch(node, true);
    this.#undos.push(() => {
      this.#digests.touch(node, true);
      this.#unlink(node);
      this.#drop(node);
      node.alive = false;
    });
  }

  /** Of a removed container the children stay linked to it, so that going back is cheap. */
  #leave(node: TreeNode): void {
    const parent = node.parent as TreeNode;
    const change =
      (node.kids?.length ?? 0) -
      (node.kids?.filter((kid) => !kid.alive).length ?? 0) -
      (parent.alive ? 0 : 1);
    this.#digests.touch(node, true);
    if (parent.alive) this.#unlink(node);
    this.#drop(node);
    node.alive = false;
    this.#loose += change;
    this.#undos.push(() => {
      this.#loose -= change;
      node.alive = true;
      this.#add(node);
      if (parent.alive) this.#link(node, parent);
      this.#digests.touch(node, true);
    });
  }

  #relink(node: TreeNode, parent: TreeNode): void {
    const before = node.parent as TreeNode;
    this.#unlink(node);
    node.parent = parent;
    this.#link(node, parent);
    this.#undos.push(() => {
      this.#digests.touch(node, true);
      this.#unlink(node);
      node.parent = before;
      this.#link(node, before);
      this.#digests.touch(node, true);
    });
  }

  #link(node: TreeNode, parent: TreeNode): void {
    const kids = parent.kids as TreeNode[];
    const at = placeAmong(kids, headersOf(node));
    if (at === kids.length) kids.push(node);
    else kids.splice(at, 0, node);
    if (parent === this.seq) this.#digests.moved(at);
  }

  #unlink(node: TreeNode): void {
    const kids = (node.parent as TreeNode).kids as TreeNode[];
    const at = placeAmong(kids, headersOf(node));
    if (at === kids.length - 1) kids.pop();
    else kids.splice(at, 1);
    if (node.parent === this.seq) this.#digests.moved(at);
  }

  #swapHead(head: TreeNode): void {
    this.ah = head;
    (this.root.kids as TreeNode[])[2] = head;
    this.#index.set(idOf(head), head);
  }

  #setRecord(node: TreeNode, record: AnyRecord): void {
    const before = node.record;
    this.lifetimes.leave(node);
    node.record = record;
    this.lifetimes.enter(node);
    this.#undos.push(() => {
      this.lifetimes.leave(node);
      node.record = before;
      this.lifetimes.enter(node);
      this.#digests.touch(node, true);
    });
    this.#changes.push(changeOf(node, before, record));
  }

  #setContents(node: TreeNode, contents: Payload): void {
    const { content, extras, json } = node;
    readContents(node, contents);
    this.#undos.push(() => Object.assign(node, { content, extras, json }));
  }

  #parent(id: string): TreeNode {
    const parent = this.#existing(id);
    const holds = parent.kids !== null && parent.kind !== NODE_KIND.root && parent.kind !== NODE_KIND.seq;
    if (!holds) throw defect(`${id} holds no nodes`);
    return parent;
  }

  #placeIn(parent: TreeNode): Place {
    if (parent.kind === NODE_KIND.sys) return SYS;
    if (parent.kind === NODE_KIND.ah) return this.#headPlace();
    return (parent.record as NodeRecord | TurnRecord).place;
  }

  #head: Place | undefined;
  /** One object a cycle, so that nodes of one place share it. */
  #headPlace(): Place {
    if (this.#head?.kind !== 'turn' || this.#head.cycle !== this.open)
      this.#head = { kind: 'turn', cycle: this.open, ordinal: 0 };
    return this.#head;
  }

  #existing(id: string): TreeNode {
    const node = this.#index.get(id);
    if (node === undefined) throw defect(`there is no node ${id}`);
    return node;
  }

  #refuseTaken(id: string): void {
    if (this.#index.has(id)) throw defect(`the id ${id} is there already`);
  }
}

const samePlace = (a: Place, b: Place): boolean =>
  a.kind === 'sys' || b.kind === 'sys' ? a.kind === b.kind : a.cycle === b.cycle && a.ordinal === b.ordinal;

const defect = (message: string): Error => fail('E_HISTORY_DEFECTIVE', message);

const changeOf = (node: TreeNode, before: AnyRecord | undefined, after: AnyRecord | undefined): Change => {
  const id = idOf(node);
  if (node.kind === NODE_KIND.turn)
    return { turn: id, before: before as TurnRecord | undefined, after: after as TurnRecord | undefined };
  if (isFixed(node))
    return { fixed: FIXED_OF[node.kind] as FixedName, before: before as never, after: after as never };
  return { node: id, before: before as NodeRecord | undefined, after: after as NodeRecord | undefined };
};

const FIXED_OF: Record<number, FixedName> = {
  [NODE_KIND.root]: 'root',
  [NODE_KIND.sys]: 'sys',
  [NODE_KIND.seq]: 'seq',
  [NODE_KIND.ah]: 'ah',
};

/** Takes from a payload what digests and slices need of it. */
const readContents = (node: TreeNode, contents: Payload): void => {
  const { content } = contents;
  if (content === undefined) {
    node.content = null;
    node.json = node.kind === NODE_KIND.block ? '""' : undefined;
  } else {
    node.json = canonicalJson(content);
    node.content = hash('sha256', node.json, 'binary');
  }
  let extras: Record<string, Payload[string]> | null = null;
  for (const name in contents)
    if (name !== 'content') (extras ??= {})[name] = contents[name] as Payload[string];
  node.extras = extras;
};
