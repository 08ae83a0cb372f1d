import { EMBEDDER } from '@stemma/analysis';
import { findRow, listRows, type RowReader } from '@stemma/row-store';
import {
  POOL_BRANCHES,
  POOL_EMBEDDERS,
  POOL_MESSAGES,
  POOL_METRICS,
  POOL_SIZES,
  POOL_TEXTS,
  POOL_VECTORS,
} from './tables.ts';

/** A position of a pool. */
export type PoolAt = { readonly history: string; readonly branchId: number; readonly seq: number };

/** A part of the way to a position: the frames of a branch up to a last one. */
export type PoolSegment = { readonly branchId: number; readonly limit: number };

/** The way to a position, the branch itself first. */
export const poolPath = (rows: RowReader, { history, branchId, seq }: PoolAt): readonly PoolSegment[] => {
  const path: PoolSegment[] = [];
  let next: PoolSegment = { branchId, limit: seq };
  for (;;) {
    path.push(next);
    const parent = rows.get(POOL_BRANCHES, [history, next.branchId]);
    if (parent === undefined) return path;
    next = { branchId: parent[0], limit: Math.min(next.limit, parent[1]) };
  }
};

/** How many messages there are, and the number of the next. */
export type PoolSize = { readonly next: number; readonly messages: number };

export const poolSizeAt = (rows: RowReader, history: string, path: readonly PoolSegment[]): PoolSize => {
  for (const { branchId, limit } of path) {
    const [found] = rows.range(POOL_SIZES, {
      prefix: [history, branchId],
      to: limit,
      reverse: true,
      limit: 1,
    });
    if (found !== undefined) return { next: found.value[0], messages: found.value[1] };
  }
  return { next: 0, messages: 0 };
};

/** A message of a pool, by the event that has its text. */
export type PoolEntry = {
  readonly ordinal: number;
  readonly node: string;
  readonly seq: number;
  readonly index: number;
  readonly contentHash: Uint8Array;
  readonly round: number;
  readonly mindId: number;
  readonly source: string | null;
};

/** The message with a number; undefined: it was removed. */
const entryAt = (
  rows: RowReader,
  history: string,
  path: readonly PoolSegment[],
  ordinal: number,
): PoolEntry | undefined => {
  for (const { branchId, limit } of path) {
    const newest = { to: limit, reverse: true, limit: 1 };
    const [found] = listRows(rows, POOL_MESSAGES, { history, branch_id: branchId, ordinal }, newest);
    if (found === undefined) continue;
    const { node, payload_seq: seq, payload_index: index } = found;
    if (node === null || seq === null || index === null) return undefined;
    const text = findRow(rows, POOL_TEXTS, { history, seq, index });
    if (text === undefined) return undefined;
    const { content_hash: contentHash, round, mind_id: mindId, source } = text;
    return { ordinal, node, seq, index, contentHash, round, mindId, source };
  }
  return undefined;
};

/** The newest messages that are there, at most `most`, the oldest first; none with a number below `from`. */
export const newestEntries = (
  rows: RowReader,
  history: string,
  path: readonly PoolSegment[],
  {
    next,
    from = 0,
    most = Infinity,
  }: { readonly next: number; readonly from?: number; readonly most?: number },
): readonly PoolEntry[] => {
  const found: PoolEntry[] = [];
  for (let ordinal = next - 1; ordinal >= from && found.length < most; ordinal--) {
    const entry = entryAt(rows, history, path, ordinal);
    if (entry !== undefined) found.push(entry);
  }
  return found.reverse();
};

/** The embedder that a configuration names, by whose vectors a pool is measured; without one, the built-in one (pool §6.6). */
export const embedderIn = (config: { readonly [key: string]: unknown }): string =>
  typeof config['embedder'] === 'string' ? config['embedder'] : EMBEDDER;

/** What is recorded of the vectors of an embedder; undefined: nothing. */
export const embedderRow = (
  rows: RowReader,
  history: string,
  embedder: string,
): { readonly dimension: number; readonly texts: number; readonly otherDimension: number } | undefined => {
  const row = rows.get(POOL_EMBEDDERS, [history, embedder]);
  return row === undefined ? undefined : { dimension: row[0], texts: row[1], otherDimension: row[2] };
};

/** The stored vector of a text; undefined: it has none. */
export const vectorOf = (
  rows: RowReader,
  history: string,
  embedder: string,
  contentHash: Uint8Array,
): Float32Array | undefined => {
  const row = rows.get(POOL_VECTORS, [history, embedder, contentHash]);
  return row === undefined ? undefined : floatsIn(row[0]);
};

/** A vector as its bytes, little-endian on every machine; where that is the machine's order, of the same memory. */
export const bytesOfFloats = (vector: Float32Array): Uint8Array => {
  if (IS_LITTLE_ENDIAN) return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  const bytes = new Uint8Array(vector.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [i, value] of vector.entries()) view.setFloat32(i * 4, value, true);
  return bytes;
};

const floatsIn = (bytes: Uint8Array): Float32Array => {
  // In memory of its own, which is aligned. (`slice` of a Buffer would share its memory.)
  if (IS_LITTLE_ENDIAN) return new Float32Array(new Uint8Array(bytes).buffer);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(i * 4, true));
};

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** The number that the next message had at the newest snapshot up to a frame; 0 before the first. */
export const nextAtSnapshot = (
  rows: RowReader,
  history: string,
  path: readonly PoolSegment[],
  seq: number,
): number => {
  for (const { branchId, limit } of path) {
    const newest = { to: Math.min(limit, seq), reverse: true, limit: 1 };
    const [found] = listRows(rows, POOL_METRICS, { history, branch_id: branchId }, newest);
    if (found !== undefined) return found.next;
  }
  return 0;
};
