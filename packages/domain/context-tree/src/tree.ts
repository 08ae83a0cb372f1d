import { lowerBound } from '@stemma/canonical';
import { missing } from '@stemma/suspend';
import { attachBelow, attachRecords } from './attach-records.ts';
import { digestOfTurn, Digests, type Flushed, type Regions } from './digests.ts';
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
  TurnLocation,
  TurnRecord,
} from './node.ts';
import type { ThreadMode } from './policy.ts';
import { defect, readContents, TreeLinks } from './tree-links.ts';
import { eachInSubtree, headersOf, idOf, isFixed, makeTreeNode, type TreeNode } from './tree-node.ts';
import { UNLOADED, unloadedKids, type KeptSums, type TurnSum } from './unloaded.ts';

/** Numbers of nodes (root and regions included), blocks and turns. */
export type TreeCounts = { readonly nodes: number; readonly blocks: number; readonly turns: number };

export type Hashes = { readonly treeHash: Uint8Array; readonly threadHash: Uint8Array };

/** A node to insert: its headers, its first cycle without it, and its payload with the event that holds it. */
export type EnteringNode = {
  readonly headers: Headers;
  readonly expires: number | null;
  readonly payload: EventRef;
  readonly contents: Payload;
};

const SYS: NodeLocation = { kind: 'sys', number: 0 };

/**
 * The working tree of a branch, with indexes and a journal that can undo every change. The cost of a change depends on
 * the nodes it affects, never on the size of the tree. The tree checks rules of structure only (a parent exists and can
 * hold children, an id is known or not); placement and plan-expiry decide beforehand which changes are allowed, and
 * when. A change that does not fit throws E_HISTORY_DEFECTIVE.
 */
export class Tree {
  readonly mode: ThreadMode;
  /** The cycle of the newest commit or import. */
  cycle: number;
  readonly root: TreeNode;
  readonly sys: TreeNode;
  readonly seq: TreeNode;
  /** The open head; a commit that seals makes a new one. */
  ah: TreeNode;
  readonly lifetimes = new LifetimeIndex();
  readonly #journal = new Journal();
  readonly #digests: Digests;
  readonly #links: TreeLinks;

  /** Turns without their nodes, and what is kept of them. */
  readonly #unloaded = new Map<TreeNode, TurnSum>();
  /** The nodes and blocks of these turns. */
  #hidden = { nodes: 0, blocks: 0 };
  /** Ids that no turn that is not loaded has. */
  readonly #absent = new Set<string>();

  /**
   * `known`: the parts are root and regions only, so that the first hash reads no payload. `kept`: the parts lack the nodes
   * of turns that are not loaded; whatever needs one throws Missing ({@link UNLOADED}), and {@link load} adds them.
   */
  constructor(parts: TreeParts, mode: ThreadMode, known = false, kept?: KeptSums) {
    this.mode = mode;
    this.cycle = parts.cycle;
    this.#digests = new Digests(mode, known);
    this.#links = new TreeLinks(this.#journal, this.#digests, this.lifetimes, (id) => this.#require(id));
    const fixed = (name: FixedName): TreeNode =>
      this.#links.add(makeTreeNode(NODE_KIND[name], parts.fixed[name], null));
    this.root = fixed('root');
    this.sys = fixed('sys');
    this.seq = fixed('seq');
    this.ah = fixed('ah');
    this.root.kids = [this.sys, this.seq, this.ah];
    for (const region of this.root.kids) region.parent = this.root;
    attachRecords(this, parts, (node) => this.#links.add(node));
    if (kept !== undefined) this.#keep(parts, kept);
  }

  #keep(parts: TreeParts, { sum, turns: sums }: KeptSums): void {
    this.#digests.keep(this, sum);
    let i = 0;
    for (const { headers } of parts.turns) {
      const turn = this.#links.index.get(headers.id) as TreeNode;
      const kept = sums[i++] as KeptSums['turns'][number];
      turn.summed = kept.digest;
      turn.slice = kept.slice;
      if (kept.loaded) this.#digests.markDirty(turn, true);
      else {
        turn.kids = unloadedKids(this, turn);
        this.#unloaded.set(turn, kept);
        this.#hidden.nodes += kept.nodes;
        this.#hidden.blocks += kept.blocks;
      }
    }
  }

  /**
   * Adds the nodes of a turn that lacks them. With `source` their digest is compared with the one that is kept; without, they
   * count as changed, so that the next hashes show a difference.
   *
   * @throws E_HISTORY_DEFECTIVE if they are not those that were summed; Missing (payloads)
   */
  load(turn: TreeNode, records: Iterable<NodeRecord>, source: PayloadSource | null): void {
    const sum = this.#unloaded.get(turn);
    if (sum === undefined) return;
    const copy: TreeNode = { ...turn, kids: [] };
    const nodes = attachBelow(copy, records);
    const blocks = nodes.reduce((count, { kind }) => count + (kind === NODE_KIND.block ? 1 : 0), 0);
    if (nodes.length !== sum.nodes || blocks !== sum.blocks)
      throw defect(`the turn ${idOf(turn)} has other nodes than were counted`);
    if (source !== null && digestOfTurn(copy, this.cycle, source) !== turn.summed)
      throw defect(`the turn ${idOf(turn)} has another digest than is kept`);
    for (const node of nodes) {
      if (node.parent === copy) node.parent = turn;
      this.#links.add(node);
    }
    turn.kids = copy.kids;
    this.#unloaded.delete(turn);
    this.#hidden = { nodes: this.#hidden.nodes - sum.nodes, blocks: this.#hidden.blocks - sum.blocks };
    if (source === null) this.#digests.markDirty(turn, true);
  }

  /** Notes that no turn that is not loaded has a node with this id. */
  noteAbsent(id: string): void {
    if (this.#unloaded.size > 0) this.#absent.add(id);
  }

  isLoaded(turn: TreeNode): boolean {
    return !this.#unloaded.has(turn);
  }

  /** The number of blocks of a turn that is not loaded; undefined: it is loaded. */
  unloadedBlocks(turn: TreeNode): number | undefined {
    return this.#unloaded.get(turn)?.blocks;
  }

  /** The number of nodes in memory. */
  get loadedNodes(): number {
    return this.#links.index.size;
  }

  /** Characters of the texts of contents in memory: those of the head, and of turns that will change again. */
  get loadedText(): number {
    return this.#digests.texts;
  }

  /** @throws Missing for all turns that are not loaded */
  requireWhole(): void {
    if (this.#unloaded.size > 0)
      throw missing(
        UNLOADED,
        [...this.#unloaded.keys()].map((turn) => ({ tree: this, turn })),
      );
  }

  /** True if the turn has nodes, loaded or not. */
  hasKids(turn: TreeNode): boolean {
    return (this.#unloaded.get(turn)?.nodes ?? turn.kids?.length ?? 0) > 0;
  }

  /** The turn at a location; undefined: none is, as at the location of the open head. */
  turnAt({ cycle, ordinal }: TurnLocation): TreeNode | undefined {
    const { turns } = this;
    if (cycle === this.open) return undefined;
    const isHere = (turn: TreeNode | undefined): boolean => {
      const location = (turn?.record as TurnRecord | undefined)?.location;
      return location?.cycle === cycle && location.ordinal === ordinal;
    };
    // Only turns that an import brought with an offset above 0 are not in the order of their locations.
    const found =
      turns[
        lowerBound(0, turns.length, (i) => {
          const location = ((turns[i] as TreeNode).record as TurnRecord).location;
          return location.cycle < cycle || (location.cycle === cycle && location.ordinal < ordinal);
        })
      ];
    return isHere(found) ? found : turns.find(isHere);
  }

  /** The turns whose digest or slice the newest hashes changed. */
  get resummed(): Iterable<TreeNode> {
    return this.#digests.resummed;
  }

  /** The sum over the children of `^seq` at the newest hashes. */
  get turnsSum(): Uint8Array {
    return this.#digests.turnsSum;
  }

  #require(id: string): TreeNode | undefined {
    const node = this.#links.index.get(id);
    if (node === undefined && this.#unloaded.size > 0 && !this.#absent.has(id))
      throw missing(UNLOADED, [{ tree: this, id }]);
    return node;
  }

  get counts(): TreeCounts {
    const { nodes, blocks } = this.#hidden;
    return {
      nodes: this.#links.index.size + nodes,
      blocks: this.#links.blocks + blocks,
      turns: this.turns.length,
    };
  }

  /** The sealed turns, oldest first. */
  get turns(): readonly TreeNode[] {
    return this.seq.kids ?? [];
  }

  /** The node with this id, including root and regions. @throws Missing (nodes of turns) */
  get(id: string): TreeNode | undefined {
    return this.#require(id);
  }

  /** The same if it is loaded. */
  getLoaded(id: string): TreeNode | undefined {
    return this.#links.index.get(id);
  }

  /** The open cycle: the next commit's. */
  get open(): number {
    return this.cycle + 1;
  }

  /** True when no node is in a removed container. */
  get hasNoOrphans(): boolean {
    return this.#links.loose === 0;
  }

  /** True if a node still exists that the newest commit should have removed. */
  get overdue(): boolean {
    return this.lifetimes.anyDueAt(this.cycle);
  }

  /** Inserts a node below `parentId`: a region except `^seq`, a turn, or a container. */
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

  /** Adds a turn of an import; `ordinal` distinguishes it from the import's other turns. */
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

  /** Replaces the headers of root or a region (by an import's); the id stays. */
  setFixed(name: FixedName, headers: Headers, payload: EventRef, contents: Payload): void {
    const node = this[name];
    if (idOf(node) !== headers.id) throw defect(`${headers.id} is not the ${name} of this history`);
    this.#links.setRecord(node, { headers, payload });
    this.#links.setContents(node, contents);
  }

  /** Replaces the payload of a node: its current content and attributes. */
  replace(id: string, payload: EventRef, contents: Payload): void {
    const node = this.#links.existing(id);
    this.#links.setRecord(node, { ...(node.record as NodeRecord), payload });
    this.#links.setContents(node, contents);
    this.#digests.markDirty(node, true);
  }

  /** Removes one node. Its children must be removed next, in the same frame (see `hasNoOrphans`). */
  remove(id: string): void {
    const node = this.#links.existing(id);
    if (isFixed(node)) throw defect(`${id} is never removed`);
    this.#links.leave(node);
  }

  /** Moves a node with its descendants below another parent; `expires` for those whose expiry this changes. */
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

  /** Keeps a due node because of a reference: shown with `ttl` 0, due at every commit. */
  hold(id: string): void {
    const node = this.#links.existing(id);
    if (isFixed(node)) throw defect(`${id} is never due`);
    const record = node.record as NodeRecord;
    this.#links.setRecord(node, { ...record, headers: { ...record.headers, ttl: 0 }, expires: null });
    this.#digests.markDirty(node, false);
  }

  /** Sets the priority of a node. */
  reprioritise(id: string, priority: number): void {
    const node = this.#links.existing(id);
    this.#links.setRecord(node, { ...node.record, headers: { ...headersOf(node), priority } });
    this.#digests.markDirty(node, false);
  }

  /** Makes the head a turn and opens a new, empty head. */
  seal(headers: Headers, payload: EventRef, contents: Payload): void {
    this.#links.refuseTaken(headers.id);
    const turn = this.ah;
    if ((turn.kids ?? []).length === 0) throw defect('an empty head gives no turn');
    const fixed = turn.record;
    const head = makeTreeNode(NODE_KIND.ah, fixed, this.root);
    head.content = turn.content;
    head.json = turn.json;
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
      this.#links.drop(turn);
      const { content, json, extras } = head;
      Object.assign(turn, { kind: NODE_KIND.ah, record: fixed, parent: this.root, content, json, extras });
      this.#swapHead(head, turn);
    });
    this.#journal.change({ turn: headers.id, before: undefined, after: record });
  }

  /** Ends the cycle: all shown values are now as of `cycle`. */
  close(cycle: number): void {
    const before = this.cycle;
    this.cycle = cycle;
    this.#journal.undo(() => (this.cycle = before));
  }

  /**
   * Tree hash and thread hash of the tree as a snapshot of its cycle: call it at a commit or import only (for a working
   * state use `hashFlat`). The cost depends on the changes since the last call.
   *
   * `head` false: as if the head were empty.
   *
   * @throws Missing (payloads) with nothing changed.
   */
  hashes(source: PayloadSource, head = true): Hashes {
    // Nodes that the next commit removes now show `ttl` 0, which changes their digest.
    for (const node of this.lifetimes.dueAt(this.open)) this.#digests.markDirty(node, false);
    const flushed: Flushed = this.#digests.flush(this, this.cycle, source, (turn) => this.isLoaded(turn));
    this.#journal.undo(() => this.#digests.unflush(this, flushed));
    const { root, sys, seq, ah } = this;
    const regions: Regions = { root, sys, seq, ah: head ? ah : { ...ah, kids: [] } };
    const treeHash = this.#digests.treeHash(regions, this.cycle, source);
    return { treeHash, threadHash: this.#digests.threadHash(regions, source) };
  }

  savepoint(): JournalSavepoint {
    return this.#journal.savepoint();
  }

  /** The changes of records since `savepoint`, in order. */
  changesSince(savepoint: JournalSavepoint): readonly RecordChange[] {
    return this.#journal.changesSince(savepoint);
  }

  /** Undoes everything since `savepoint`. */
  rollbackTo(savepoint: JournalSavepoint): void {
    this.#journal.rollbackTo(savepoint);
  }

  /** Clears the journal; earlier savepoints become invalid. */
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
    // Before anything has changed: what follows could not be undone in part.
    if (!this.isLoaded(parent)) throw missing(UNLOADED, [{ tree: this, turn: parent }]);
    return parent;
  }

  #locationIn(parent: TreeNode): NodeLocation {
    if (parent.kind === NODE_KIND.sys) return SYS;
    if (parent.kind === NODE_KIND.ah) return this.#headLocation();
    return (parent.record as NodeRecord | TurnRecord).location;
  }

  #head: NodeLocation | undefined;
  /** One object per cycle, so that nodes of one location share it. */
  #headLocation(): NodeLocation {
    if (this.#head?.kind !== 'turn' || this.#head.cycle !== this.open)
      this.#head = { kind: 'turn', cycle: this.open, ordinal: 0 };
    return this.#head;
  }
}

const sameLocation = (a: NodeLocation, b: NodeLocation): boolean =>
  a.kind === 'sys' || b.kind === 'sys' ? a.kind === b.kind : a.cycle === b.cycle && a.ordinal === b.ordinal;
