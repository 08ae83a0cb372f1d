import { pack, sha256, type Packable } from '@stemma/canonical';
import { collect } from '@stemma/suspend';
import { hash } from 'node:crypto';
import { NODE_KIND } from './flat-tree.ts';
import { hashedTtl, shownTtl } from './lifetime.ts';
import { addChild, addSum, addToSum, element, emptySum, subtractChild, SUM_BYTES } from './lt-hash.ts';
import type { PayloadSource } from './node.ts';
import type { ThreadMode } from './policy.ts';
import { hashedHeaders, nodeDigest } from './preimage.ts';
import { contentJson, contentReader, payloadReader, readPayload } from './read-payloads.ts';
import { ThreadHasher } from './thread-hasher.ts';
import { blockJson } from './thread.ts';
import { eachInSubtree, expiresOf, headersOf, insertionIndex, type TreeNode } from './tree-node.ts';

/** The sums over the children of `^sys` and of `^seq`. A flush that changes one replaces it. */
type Sums = { readonly sys: Uint8Array; readonly seq: Uint8Array };

/** What a flush replaced, to restore it. */
export type Flushed = {
  readonly sums: Sums;
  readonly known: boolean;
  readonly summed: readonly (readonly [TreeNode, string | undefined])[];
  readonly slices: readonly (readonly [TreeNode, string | undefined])[];
};

/** The nodes that digests need to see. */
export type Regions = {
  readonly root: TreeNode;
  readonly sys: TreeNode;
  readonly seq: TreeNode;
  readonly ah: TreeNode;
};

const EMPTY_SLICE = hash('sha256', '[]', 'binary');
/** Texts of contents that sealed turns may keep for their next slice, in characters. */
const KEPT_TEXT = 16_000_000;

/**
 * Keeps the tree hash and the thread hash up to date (snapshots: tree hash and thread hash). Changes only mark the
 * nodes that they affect; a flush, once per commit, computes the digests of the marked children of `^sys` and `^seq`
 * and updates the sum by them.
 */
export class Digests {
  #sums: Sums = { sys: emptySum(), seq: emptySum() };
  #known: boolean;
  readonly #mode: ThreadMode;
  /** The turns whose digest or slice the newest flush changed. */
  readonly resummed = new Set<TreeNode>();
  readonly #dirty = new Set<TreeNode>();
  readonly #resliced = new Set<TreeNode>();
  readonly #threadHasher = new ThreadHasher();
  /** Characters of all texts of contents that nodes of the tree keep. */
  texts = 0;
  /** Those among them that were read for slices since such texts were dropped. */
  #keptText = 0;

  /** `known`: the tree is still empty; otherwise the first flush computes everything. */
  constructor(mode: ThreadMode, known: boolean) {
    this.#mode = mode;
    this.#known = known;
  }

  /** Marks a node as changed; `inThread` if its block's thread entry changed too. */
  markDirty(node: TreeNode, inThread: boolean): void {
    let at = node;
    for (;;) {
      at.digest = undefined;
      const up = at.parent;
      if (up === null) return;
      if (up.kind === NODE_KIND.sys || up.kind === NODE_KIND.seq) {
        this.#dirty.add(at);
        if (inThread) this.#resliced.add(up.kind === NODE_KIND.sys ? up : at);
        return;
      }
      if (up.kind < NODE_KIND.turn) return;
      at = up;
    }
  }

  /** Takes the digests of the turns as they are in the sum; only children of `^sys` and changed turns are computed. */
  keep(regions: Regions, sum: Uint8Array): void {
    this.#known = true;
    this.#sums = { sys: emptySum(), seq: sum.slice() };
    for (const node of regions.sys.kids ?? []) this.#dirty.add(node);
    this.#resliced.add(regions.sys);
  }

  /** Nobody may change it: a flush puts another one in its place. */
  get turnsSum(): Uint8Array {
    return this.#sums.seq;
  }

  /** Marks the turns from this index on as moved. */
  turnsMoved(from: number): void {
    this.#threadHasher.cut(from);
  }

  /** Computes the digests of all marked nodes. @throws Missing (payloads) before anything has changed. */
  flush(
    regions: Regions,
    cycle: number,
    source: PayloadSource,
    isLoaded: (turn: TreeNode) => boolean,
  ): Flushed {
    if (!this.#known) {
      for (const node of regions.sys.kids ?? []) this.#dirty.add(node);
      for (const turn of regions.seq.kids ?? []) this.#dirty.add(turn);
    }
    this.#fetch(regions, source);
    const digests: [TreeNode, string | undefined][] = [];
    const summed: [TreeNode, string | undefined][] = [];
    for (const node of this.#dirty) {
      const inSys = node.parent === regions.sys;
      const live = node.alive && (inSys || node.parent === regions.seq);
      const digest = live ? digestOf(node, cycle, inSys, source, true) : undefined;
      if (node.summed === digest) continue;
      digests.push([node, digest]);
      summed.push([node, node.summed]);
    }
    const slices = this.#newSlices(regions, source);

    const before: Flushed = {
      sums: this.#sums,
      known: this.#known,
      summed,
      slices: slices.map(([node]) => [node, node.slice]),
    };
    this.#sums = {
      sys: digests.some(([node]) => !isInSeq(node)) ? this.#sums.sys.slice() : this.#sums.sys,
      seq: digests.some(([node]) => isInSeq(node)) ? this.#sums.seq.slice() : this.#sums.seq,
    };
    this.resummed.clear();
    for (const [node, digest] of digests)
      if (node.alive) this.#noteResummed(regions, node, node.summed !== digest);
    if (this.#mode === 'full')
      for (const [node, slice] of slices) this.#noteResummed(regions, node, node.slice !== slice);
    for (const [node, digest] of digests) this.#replace(node, digest);
    for (const [node, slice] of slices) this.#setSlice(regions, node, slice);
    this.#known = true;
    this.#dirty.clear();
    this.#resliced.clear();
    if (this.#keptText > KEPT_TEXT) this.#dropTexts(regions, isLoaded);
    return before;
  }

  #noteResummed(regions: Regions, node: TreeNode, changed: boolean): void {
    if (changed && node.parent === regions.seq) this.resummed.add(node);
  }

  /** Restores what `flush` replaced. */
  unflush(regions: Regions, flushed: Flushed): void {
    this.#sums = flushed.sums;
    this.#known = flushed.known;
    for (const [node, summed] of flushed.summed) {
      node.summed = summed;
      eachInSubtree(node, (each) => (each.digest = undefined));
      this.#dirty.add(node);
    }
    for (const [node, slice] of flushed.slices) {
      this.#setSlice(regions, node, slice);
      this.#resliced.add(node);
    }
  }

  /** SHA-256(msgpack([1, cycle, [four headers], sum])) of the flushed tree, including the head. */
  treeHash(regions: Regions, cycle: number, source: PayloadSource): Uint8Array {
    const head = regions.ah.kids ?? [];
    const sum = total;
    sum.set(this.#sums.seq);
    addSum(sum, this.#sums.sys);
    for (const node of head) addToSum(sum, element('^ah', digestOf(node, cycle, false, source, false)), 1);
    const fixed = this.#fixedBytes(regions, source);
    const number = pack(cycle);
    const length = 2 + number.length + fixed.length + SUM_HEAD.length + SUM_BYTES;
    if (length > hashed.length) hashed = Buffer.allocUnsafeSlow(2 * length);
    hashed[0] = 0x94;
    hashed[1] = 1;
    hashed.set(number, 2);
    hashed.set(fixed, 2 + number.length);
    hashed.set(SUM_HEAD, length - SUM_BYTES - SUM_HEAD.length);
    hashed.set(sum, length - SUM_BYTES);
    return sha256(hashed.subarray(0, length));
  }

  #fixed: { readonly of: readonly unknown[]; readonly bytes: Uint8Array } | undefined;
  /** The packed headers of root and regions, which rarely change. */
  #fixedBytes({ root, sys, seq, ah }: Regions, source: PayloadSource): Uint8Array {
    const nodes = [root, sys, seq, ah];
    if (this.#fixed?.of.every((record, i) => record === nodes[i]?.record) === true) return this.#fixed.bytes;
    const bytes = pack(nodes.map((node) => fixedHeadersOf(node, source)));
    this.#fixed = { of: nodes.map((node) => node.record), bytes };
    return bytes;
  }

  threadHash(regions: Regions, source: PayloadSource): Uint8Array {
    const turns = regions.seq.kids ?? [];
    const sys = regions.sys.slice ?? EMPTY_SLICE;
    if (this.#mode === 'pre')
      return sha256(Buffer.from(sys + (turns.at(-1)?.slice ?? EMPTY_SLICE), 'latin1'));
    const head = regions.ah.kids ?? [];
    const ah = head.length === 0 ? EMPTY_SLICE : this.#sliceOf(head, source, true);
    return this.#threadHasher.hash(sys, turns.length, (turn) => turns[turn]?.slice ?? EMPTY_SLICE, ah);
  }

  /** Reads the payloads that the flush needs, or throws Missing for all of them at once. */
  #fetch(regions: Regions, source: PayloadSource): void {
    collect((attempt) => {
      const payloads = payloadReader(source, attempt);
      for (const node of this.#dirty) if (node.alive) payloads(node);
      const contents = contentReader(source, attempt);
      for (const node of this.#known ? this.#resliced : [regions.sys, regions.seq])
        if (node.alive) contents(node);
    });
  }

  #newSlices(regions: Regions, source: PayloadSource): [TreeNode, string | undefined][] {
    const slices: [TreeNode, string | undefined][] = [];
    const turns = regions.seq.kids ?? [];
    if (this.#resliced.has(regions.sys) || regions.sys.slice === undefined)
      slices.push([regions.sys, this.#sliceOf(regions.sys.kids ?? [], source, true)]);
    if (this.#mode === 'pre') {
      for (const turn of this.#resliced)
        if (turn !== regions.sys && turn.slice !== undefined) slices.push([turn, undefined]);
      const newest = turns.at(-1);
      if (newest === undefined) return slices;
      const stale = newest.slice === undefined || this.#resliced.has(newest);
      const pre = (newest.kids ?? []).filter((kid) => headersOf(kid).offset < 0);
      if (stale) slices.push([newest, this.#sliceOf(pre, source, true)]);
      return slices;
    }
    const stale = this.#known ? this.#resliced : turns;
    for (const turn of stale)
      if (turn !== regions.sys && turn.alive) slices.push([turn, this.#turnSlice(turn, source)]);
    return slices;
  }

  /** The text is kept only if a block of the turn will still expire, which changes the slice again. */
  #turnSlice(turn: TreeNode, source: PayloadSource): string {
    return this.#sliceOf(turn.kids ?? [], source, isPending(turn));
  }

  #sliceOf(nodes: readonly TreeNode[], source: PayloadSource, keep: boolean): string {
    let text = '[';
    for (const top of nodes)
      eachInSubtree(top, (node) => {
        if (node.kind !== NODE_KIND.block) return;
        const json = contentJson(node, source);
        if (!keep) this.#dropText(node);
        else if (node.json === undefined) {
          this.#keptText += json.length;
          this.texts += json.length;
          node.json = json;
        }
        const inSys = (node.record as { location: { kind: string } }).location.kind === 'sys';
        text += (text.length === 1 ? '' : ',') + blockJson(headersOf(node), json, inSys);
      });
    return hash('sha256', text + ']', 'binary');
  }

  #replace(node: TreeNode, digest: string | undefined): void {
    if (node.summed === digest) return;
    const region = isInSeq(node) ? '^seq' : '^sys';
    const sum = region === '^seq' ? this.#sums.seq : this.#sums.sys;
    if (node.summed !== undefined) subtractChild(sum, region, node.summed);
    if (digest !== undefined) addChild(sum, region, digest, region === '^seq' && isPending(node));
    node.summed = digest;
  }

  #setSlice(regions: Regions, node: TreeNode, slice: string | undefined): void {
    node.slice = slice;
    if (node === regions.sys || this.#mode === 'pre') return;
    const turns = regions.seq.kids ?? [];
    const at = insertionIndex(turns, headersOf(node));
    if (turns[at] === node) this.#threadHasher.cut(at);
  }

  #dropTexts(regions: Regions, isLoaded: (turn: TreeNode) => boolean): void {
    const loaded = (regions.seq.kids ?? []).filter(isLoaded);
    for (const top of [regions.sys, ...loaded]) eachInSubtree(top, (node) => this.#dropText(node));
    this.#keptText = 0;
  }

  #dropText(node: TreeNode): void {
    this.texts -= textOf(node);
    node.json = undefined;
  }
}

/** Characters of the text that a node keeps. */
export const textOf = ({ json }: TreeNode): number => json?.length ?? 0;

/** Of a child of `^sys` or `^seq`: which of both. */
const isInSeq = (node: TreeNode): boolean => node.kind === NODE_KIND.turn;

/** True if a block in the node will expire. */
const isPending = (node: TreeNode): boolean => {
  if (node.kind === NODE_KIND.block) return expiresOf(node) !== null;
  if (node.kids !== null) for (const kid of node.kids) if (isPending(kid)) return true;
  return false;
};

/** The msgpack header of 2,048 bytes. */
const SUM_HEAD = Uint8Array.of(0xc5, 0x08, 0x00);

/** The sum and the buffer for the input of a tree hash, reused for each. */
const total = emptySum();
let hashed = Buffer.allocUnsafeSlow(4_096);

const digestOf = (
  node: TreeNode,
  cycle: number,
  frozen: boolean,
  source: PayloadSource,
  cache: boolean,
): string => {
  if (cache && node.digest !== undefined) return node.digest;
  readPayload(node, source);
  const headers = headersOf(node);
  const ttl = hashedTtl(shownTtl(headers.ttl, expiresOf(node), cycle), cycle, frozen);
  const kids = node.kids === null ? [] : node.kids.map((kid) => digestOf(kid, cycle, frozen, source, cache));
  const digest = nodeDigest(
    { headers, ttl, content: node.content ?? null, extras: node.extras ?? null },
    kids,
  );
  if (cache) node.digest = digest;
  return digest;
};

/** The digest of a turn in a cycle. @throws Missing (payloads) for all at once */
export const digestOfTurn = (turn: TreeNode, cycle: number, source: PayloadSource): string => {
  collect((attempt) => payloadReader(source, attempt)(turn));
  return digestOf(turn, cycle, false, source, true);
};

const fixedHeadersOf = (node: TreeNode, source: PayloadSource): Packable => {
  readPayload(node, source);
  const headers = headersOf(node);
  return hashedHeaders({ headers, ttl: headers.ttl, content: null, extras: node.extras ?? null });
};
