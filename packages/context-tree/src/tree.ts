import { attachRecords } from './attach-records.ts';
import { Digests, type Flushed } from './digests.ts';
import { NODE_KIND, type TreeParts } from './flat-tree.ts';
import { Journal, type JournalSavepoint } from './journal.ts';
import { LifetimeIndex } from './lifetime-index.ts';
import { kindOfType } from './node-type.ts';
import type {
  EventRef,
  FixedName,
  Headers,
  NodeLocation,
  NodeRecord,
  Payload,
  PayloadSource,
  RecordChange,
  TurnRecord,
} from './node.ts';
import type { ThreadMode } from './policy.ts';
import { defect, readContents, TreeLinks } from './tree-links.ts';
import { eachInSubtree, headersOf, idOf, isFixed, makeTreeNode, type TreeNode } from './tree-node.ts';

/** How many there are: all nodes with root and regions, blocks, turns. */
export type TreeCounts = { readonly nodes: number; readonly blocks: number; readonly turns: number };

export type Hashes = { readonly treeHash: Uint8Array; readonly threadHash: Uint8Array };

/** A node that enters: its headers, when it goes, and its payload with the event that holds it. */
export type EnteringNode = {
  readonly headers: Headers;
  readonly expires: number | null;
  readonly payload: EventRef;
  readonly contents: Payload;
};

const SYS: NodeLocation = { kind: 'sys', number: 0 };

/**
 * The working tree of a branch: what there is, indexes beside it, and a journal by which every change can be taken
 * back. A change costs what it touches, never what the tree holds. It keeps rules of structure only (a parent exists and
 * can hold, an id is there or not): which changes are allowed, and when, is decided before (placement, plan-expiry).
 * Changes throw E_HISTORY_DEFECTIVE where they do not fit.
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
  readonly #journal = new Journal();
  readonly #digests: Digests;
  readonly #links: TreeLinks;

  /** `known`: the parts are root and regions only, so that no payload has to be read for the first hash. */
  constructor(parts: TreeParts, mode: ThreadMode, known = false) {
    this.mode = mode;
    this.cycle = parts.cycle;
    this.#digests = new Digests(mode, known);
    this.#links = new TreeLinks(this.#journal, this.#digests, this.lifetimes);
    const fixed = (name: FixedName): TreeNode =>
      this.#links.add(makeTreeNode(NODE_KIND[name], parts.fixed[name], null));
    this.root = fixed('root');
    this.sys = fixed('sys');
    this.seq = fixed('seq');
    this.ah = fixed('ah');
    this.root.kids = [this.sys, this.seq, this.ah];
    for (const region of this.root.kids) region.parent = this.root;
    attachRecords(this, parts, (node) => this.#links.add(node));
  }

  get counts(): TreeCounts {
    return { nodes: this.#links.index.size, blocks: this.#links.blocks, turns: this.turns.length };
  }

  /** The sealed turns, oldest first. */
  get turns(): readonly TreeNode[] {
    return this.seq.kids ?? [];
  }

  /** The node with this id, root and regions too. */
  get(id: string): TreeNode | undefined {
    return this.#links.index.get(id);
  }

  /** The cycle that runs: the next commit's. */
  get open(): number {
    return this.cycle + 1;
  }

  /** True when nothing lies in a container that has gone. */
  get hasNoOrphans(): boolean {
    return this.#links.loose === 0;
  }

  /** True if something is still there that the newest commit was to take. */
  get overdue(): boolean {
    return this.lifetimes.anyDueAt(this.cycle);
  }

  /** Puts a node below `parentId`: a region but `^seq`, a turn, or a container. */
  insert(parentId: string, { headers, expires, payload, contents }: EnteringNode): void {
    const parent = this.#parent(parentId);
    this.#links.refuseTaken(headers.id);
    const kind = kindOfType(headers.nodeType);
    if (kind === NODE_KIND.turn) throw defect(`${headers.id} is a turn`);
    const own = parent.kind === NODE_KIND.container ? idOf(parent) : null;
    const record: NodeRecord = { headers, location: this.#locationIn(parent), parent: own, expires, payload };
    const node = makeTreeNode(kind, record, parent);
    readContents(node, contents);
    this.#links.enter(node);
  }

  /** Adds a turn that an import brings; `ordinal` tells it from the others of the import. */
  addTurn(ordinal: number, { headers, expires, payload, contents }: EnteringNode): void {
    this.#links.refuseTaken(headers.id);
    const record: TurnRecord = {
      headers,
      location: { kind: 'turn', cycle: this.cycle, ordinal },
      expires,
      payload,
    };
    const node = makeTreeNode(NODE_KIND.turn, record, this.seq);
    readContents(node, contents);
    this.#links.enter(node);
  }

  /** Gives root or a region other headers (an import's); its id stays. */
  setFixed(name: FixedName, headers: Headers, payload: EventRef, contents: Payload): void {
    const node = this[name];
    if (idOf(node) !== headers.id) throw defect(`${headers.id} is not the ${name} of this history`);
    this.#links.setRecord(node, { headers, payload });
    this.#links.setContents(node, contents);
  }

  /** Gives a node another payload: content and attributes as they are now. */
  replace(id: string, payload: EventRef, contents: Payload): void {
    const node = this.#links.existing(id);
    this.#links.setRecord(node, { ...(node.record as NodeRecord), payload });
    this.#links.setContents(node, contents);
    this.#digests.markDirty(node, true);
  }

  /** Takes one node out. What it holds must be taken out next, in the same frame (see `settled`). */
  remove(id: string): void {
    const node = this.#links.existing(id);
    if (isFixed(node)) throw defect(`${id} is never removed`);
    this.#links.leave(node);
  }

  /** Puts a node with what it holds below another parent; `expires` for those whose expiry that changes. */
  move(id: string, parentId: string, expires: ReadonlyMap<string, number | null>): void {
    const node = this.#links.existing(id);
    const parent = this.#parent(parentId);
    if (isFixed(node) || node.kind === NODE_KIND.turn) throw defect(`${id} is not moved`);
    for (let at: TreeNode | null = parent; at !== null; at = at.parent)
      if (at === node) throw defect(`${id} cannot lie in itself`);
    const location = this.#locationIn(parent);
    const own = parent.kind === NODE_KIND.container ? idOf(parent) : null;
    this.#links.relink(node, parent);
    eachInSubtree(node, (each) => {
      const record = each.record as NodeRecord;
      const until = expires.get(idOf(each));
      if (each !== node && until === undefined && sameLocation(location, record.location)) return;
      const above = each === node ? own : record.parent;
      const ends = until === undefined ? record.expires : until;
      this.#links.setRecord(each, { ...record, location, parent: above, expires: ends });
      each.digest = undefined;
    });
    this.#digests.markDirty(node, true);
  }

  /** A node that was due stays because of a reference: shown with `ttl` 0, due at every commit. */
  hold(id: string): void {
    const node = this.#links.existing(id);
    if (isFixed(node)) throw defect(`${id} is never due`);
    const record = node.record as NodeRecord;
    this.#links.setRecord(node, { ...record, headers: { ...record.headers, ttl: 0 }, expires: null });
    this.#digests.markDirty(node, false);
  }

  /** Gives a node another priority. */
  reprioritise(id: string, priority: number): void {
    const node = this.#links.existing(id);
    this.#links.setRecord(node, { ...node.record, headers: { ...headersOf(node), priority } });
    this.#digests.markDirty(node, false);
  }

  /** Makes the head a turn and opens a new, empty one. */
  seal(headers: Headers, payload: EventRef, contents: Payload): void {
    this.#links.refuseTaken(headers.id);
    const turn = this.ah;
    if ((turn.kids ?? []).length === 0) throw defect('an empty head gives no turn');
    const fixed = turn.record;
    const head = makeTreeNode(NODE_KIND.ah, fixed, this.root);
    head.content = turn.content;
    head.extras = turn.extras;
    const location = { kind: 'turn', cycle: this.open, ordinal: 0 } as const;
    const record: TurnRecord = { headers, location, expires: null, payload };
    this.#swapHead(turn, head);
    Object.assign(turn, { kind: NODE_KIND.turn, record, parent: this.seq });
    readContents(turn, contents);
    this.#links.add(turn);
    this.#links.link(turn);
    this.#digests.markDirty(turn, true);
    this.#journal.undo(() => {
      this.#digests.markDirty(turn, true);
      this.#links.unlink(turn);
      this.lifetimes.leave(turn);
      this.#links.index.delete(headers.id);
      const { content, extras } = head;
      Object.assign(turn, { kind: NODE_KIND.ah, record: fixed, parent: this.root, content, extras });
      this.#swapHead(head, turn);
    });
    this.#journal.change({ turn: headers.id, before: undefined, after: record });
  }

  /** Ends the cycle: everything shown is now as of `cycle`. */
  close(cycle: number): void {
    const before = this.cycle;
    this.cycle = cycle;
    this.#journal.undo(() => (this.cycle = before));
  }

  /**
   * Tree hash and thread hash of the tree as a snapshot of its cycle: call it at a commit or import only (for a working
   * state see `hashFlat`). Costs what changed since the last call.
   *
   * @throws Missing (payloads) with nothing changed.
   */
  hashes(source: PayloadSource): Hashes {
    // What the next commit is to take shows `ttl` 0 from now on: the word in its digest changes.
    for (const node of this.lifetimes.dueAt(this.open)) this.#digests.markDirty(node, false);
    const flushed: Flushed = this.#digests.flush(this, this.cycle, source);
    this.#journal.undo(() => this.#digests.unflush(this, flushed));
    const treeHash = this.#digests.treeHash(this, this.cycle, source);
    return { treeHash, threadHash: this.#digests.threadHash(this, source) };
  }

  savepoint(): JournalSavepoint {
    return this.#journal.savepoint();
  }

  /** The changes of records since `mark`, in order. */
  changesSince(savepoint: JournalSavepoint): readonly RecordChange[] {
    return this.#journal.changesSince(savepoint);
  }

  /** Takes back everything since `mark`. */
  rollbackTo(savepoint: JournalSavepoint): void {
    this.#journal.rollbackTo(savepoint);
  }

  /** Forgets how to take back; marks taken before are void. */
  forget(): void {
    this.#journal.forget();
  }

  #swapHead(before: TreeNode, head: TreeNode): void {
    this.lifetimes.leave(before);
    this.lifetimes.enter(head);
    this.ah = head;
    (this.root.kids as TreeNode[])[2] = head;
    this.#links.index.set(idOf(head), head);
  }

  #parent(id: string): TreeNode {
    const parent = this.#links.existing(id);
    const holds = parent.kids !== null && parent.kind !== NODE_KIND.root && parent.kind !== NODE_KIND.seq;
    if (!holds) throw defect(`${id} holds no nodes`);
    return parent;
  }

  #locationIn(parent: TreeNode): NodeLocation {
    if (parent.kind === NODE_KIND.sys) return SYS;
    if (parent.kind === NODE_KIND.ah) return this.#headLocation();
    return (parent.record as NodeRecord | TurnRecord).location;
  }

  #head: NodeLocation | undefined;
  /** One object a cycle, so that nodes of one place share it. */
  #headLocation(): NodeLocation {
    if (this.#head?.kind !== 'turn' || this.#head.cycle !== this.open)
      this.#head = { kind: 'turn', cycle: this.open, ordinal: 0 };
    return this.#head;
  }
}

const sameLocation = (a: NodeLocation, b: NodeLocation): boolean =>
  a.kind === 'sys' || b.kind === 'sys' ? a.kind === b.kind : a.cycle === b.cycle && a.ordinal === b.ordinal;
