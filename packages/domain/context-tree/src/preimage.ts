import { compareCodePoints, isForbiddenKey, pack, type Packable, type WideJson } from '@stemma/canonical';
import { hash } from 'node:crypto';
import { isHeaderName } from './header-names.ts';
import { isoTime } from './iso-time.ts';
import type { DUE } from './lifetime.ts';
import type { Headers, Payload } from './node.ts';

/** The input of a node's digest besides its children. `content`: SHA-256 as latin1 text, or null without content. */
export type Digested = {
  readonly headers: Headers;
  readonly ttl: number | null | typeof DUE;
  readonly content: string | null;
  readonly extras: Payload | null;
};

/** All attributes as exported, except that `content` is its SHA-256 and `ttl` its {@link hashedTtl}. */
export const hashedHeaders = (node: Digested): { readonly [name: string]: Packable } => {
  const { headers } = node;
  const map: Record<string, Packable> = {};
  if (node.extras !== null) Object.assign(map, node.extras);
  Object.assign(map, headers);
  if (node.content !== null) map['content'] = Buffer.from(node.content, 'latin1');
  map['created_at_iso'] = isoTime(headers.created_at_ns);
  map['ttl'] = node.ttl;
  return map;
};

const isPlain = (value: WideJson | undefined): value is string | null | undefined =>
  value === undefined || value === null || typeof value === 'string';

/**
 * A node's digest: SHA-256(msgpack([headers, [digests of its children in order]])) (snapshots: tree hash), 32 bytes as
 * latin1 text. A specialised writer handles nearly all nodes; its bytes equal those of `pack`.
 */
export const nodeDigest = (node: Digested, kids: readonly string[]): string => {
  const extras = node.extras === null ? NO_NAMES : plainNames(node.extras);
  if (
    extras !== undefined &&
    Number.isSafeInteger(node.headers.priority) &&
    isPlain(node.headers.provenance)
  ) {
    writePlain(node, extras, kids);
    return hash('sha256', scratch.subarray(0, end), 'binary');
  }
  const packed = pack([hashedHeaders(node), kids.map((kid) => new Uint8Array(Buffer.from(kid, 'latin1')))]);
  return hash('sha256', packed, 'binary');
};

const NO_NAMES: readonly string[] = [];

/** The names of attributes in order, if none is a header's; undefined: only `pack` can write them. */
const plainNames = (extras: Payload): readonly string[] | undefined => {
  const names = Object.keys(extras);
  for (const name of names)
    if (name === 'content' || isHeaderName(name) || isForbiddenKey(name) || extras[name] === undefined)
      return undefined;
  return names.length > 1 ? names.sort(compareCodePoints) : names;
};

let scratch = Buffer.allocUnsafe(16_384);
let end = 0;

const room = (bytes: number): void => {
  if (end + bytes <= scratch.length) return;
  const larger = Buffer.allocUnsafe(Math.max(scratch.length * 2, end + bytes));
  scratch.copy(larger, 0, 0, end);
  scratch = larger;
};

/** The attributes of the node being written, and how many of them are written. */
let attributes: Payload = {};
let names: readonly string[] = NO_NAMES;
let named = 0;

/** Writes the attributes that come before a header, or all that remain. */
const writeAttributes = (before?: string): void => {
  for (; named < names.length; named++) {
    const name = names[named] as string;
    if (before !== undefined && compareCodePoints(name, before) > 0) return;
    writeValue(name);
    writeValue(attributes[name] as Packable);
  }
};

const writeValue = (value: Packable): void => {
  if (typeof value === 'string' && value.isWellFormed()) {
    writeText(value);
    return;
  }
  const bytes = pack(value);
  room(bytes.length);
  scratch.set(bytes, end);
  end += bytes.length;
};

const writePlain = (node: Digested, extras: readonly string[], kids: readonly string[]): void => {
  const { headers, content } = node;
  attributes = node.extras ?? {};
  names = extras;
  named = 0;
  end = 0;
  room(512);
  scratch[end++] = 0x92;
  const size =
    9 +
    extras.length +
    (content === null ? 0 : 1) +
    (headers.key === undefined ? 0 : 1) +
    (headers.kind === undefined ? 0 : 1) +
    (headers.provenance === undefined ? 0 : 1) +
    (headers.refs === undefined ? 0 : 1) +
    (headers.removable === undefined ? 0 : 1) +
    (headers.role === undefined ? 0 : 1);
  writeHead(size, 0x80, 0xde);
  if (content !== null) {
    writeKey('content');
    writeDigest(content);
  }
  writeKey('created_at_iso');
  writeTime(headers.created_at_ns);
  writeKey('created_at_ns');
  writeInteger(headers.created_at_ns);
  writeKey('creation_index');
  writeInteger(headers.creation_index);
  writeKey('cycle');
  writeInteger(headers.cycle);
  writeKey('id');
  writeText(headers.id);
  writeOptional('key', headers.key);
  writeOptional('kind', headers.kind);
  writeKey('nodeType');
  writeText(headers.nodeType);
  writeKey('offset');
  writeInteger(headers.offset);
  writeKey('priority');
  writeInteger(headers.priority);
  writeOptional('provenance', headers.provenance as string | null | undefined);
  writeRefs(headers.refs);
  if (headers.removable !== undefined) {
    writeKey('removable');
    scratch[end++] = headers.removable === null ? 0xc0 : headers.removable ? 0xc3 : 0xc2;
  }
  writeOptional('role', headers.role);
  writeKey('ttl');
  if (typeof node.ttl === 'number') writeInteger(node.ttl);
  else writeNullable(node.ttl);
  if (named < names.length) writeAttributes();
  writeHead(kids.length, 0x90, 0xdc);
  room(kids.length * 34);
  for (const kid of kids) writeDigest(kid);
};

const KEYS = new Map<string, Buffer>();

const writeKey = (key: string): void => {
  if (named < names.length) writeAttributes(key);
  let bytes = KEYS.get(key);
  if (bytes === undefined) KEYS.set(key, (bytes = Buffer.from(pack(key))));
  room(64);
  for (let i = 0; i < bytes.length; i++) scratch[end++] = bytes[i] as number;
};

const writeOptional = (key: string, value: string | null | undefined): void => {
  if (value === undefined) return;
  writeKey(key);
  writeNullable(value);
};

const writeNullable = (value: string | null): void => {
  if (value !== null) {
    writeText(value);
    return;
  }
  room(1);
  scratch[end++] = 0xc0;
};

const writeRefs = (refs: readonly string[] | null | undefined): void => {
  if (refs === undefined) return;
  writeKey('refs');
  if (refs === null) {
    writeNullable(null);
    return;
  }
  writeHead(refs.length, 0x90, 0xdc);
  for (const ref of refs) writeText(ref);
};

const writeDigest = (digest: string): void => {
  room(34);
  scratch[end++] = 0xc4;
  scratch[end++] = 32;
  end += scratch.write(digest, end, 'latin1');
};

/** The msgpack header of a map or list: `short` with up to 15 entries, else `long` and 16 or 32 bits. */
const writeHead = (count: number, short: number, long: number): void => {
  room(5);
  if (count < 16) scratch[end++] = short | count;
  else if (count < 0x1_0000) {
    scratch[end++] = long;
    end = scratch.writeUInt16BE(count, end);
  } else {
    scratch[end++] = long + 1;
    end = scratch.writeUInt32BE(count, end);
  }
};

const writeText = (text: string): void => {
  const units = text.length;
  room(units * 3 + 5);
  if (units < 32) {
    const start = end++;
    let i = 0;
    for (; i < units; i++) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80) break;
      scratch[end++] = unit;
    }
    if (i === units) {
      scratch[start] = 0xa0 | units;
      return;
    }
    end = start;
  }
  const bytes = Buffer.byteLength(text);
  if (bytes < 32) scratch[end++] = 0xa0 | bytes;
  else if (bytes < 0x100) {
    scratch[end++] = 0xd9;
    scratch[end++] = bytes;
  } else if (bytes < 0x1_0000) {
    scratch[end++] = 0xda;
    end = scratch.writeUInt16BE(bytes, end);
  } else {
    scratch[end++] = 0xdb;
    end = scratch.writeUInt32BE(bytes, end);
  }
  end += scratch.write(text, end, 'utf8');
};

let timeFrom: bigint | undefined;
let timeText = '';

/** Cached by millisecond: nodes that enter together nearly always share one. */
const writeTime = (nanoseconds: bigint): void => {
  const since = timeFrom === undefined ? -1n : nanoseconds - timeFrom;
  if (since < 0n || since >= 1_000_000n) {
    timeText = isoTime(nanoseconds);
    timeFrom = nanoseconds < 0n ? undefined : nanoseconds - (nanoseconds % 1_000_000n);
  }
  writeText(timeText);
};

const writeInteger = (value: number | bigint): void => {
  room(9);
  if (typeof value === 'number' && value >= 0 && value < 0x80) scratch[end++] = value;
  else {
    const packed = typeof value === 'number' ? packNumber(value) : packWide(value);
    if (packed !== undefined) for (let i = 0; i < packed.length; i++) scratch[end++] = packed[i] as number;
  }
};

const packNumber = (value: number): Uint8Array => pack(value);

/** The common case of nanoseconds, faster than `pack`. */
const packWide = (value: bigint): Uint8Array | undefined => {
  if (value < 0x1_0000_0000n || value > 0x7fff_ffff_ffff_ffffn) return pack(value);
  scratch[end++] = 0xcf;
  end = scratch.writeBigUInt64BE(value, end);
  return undefined;
};
