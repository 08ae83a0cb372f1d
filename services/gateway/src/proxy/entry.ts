import { decode, encode } from '@msgpack/msgpack';
import { fail } from '@stemma/errors';
import type { CallStatus } from '@stemma/events';
import { crc32 } from 'node:zlib';
import { z } from 'zod';

/**
 * Where the conversation of a call is looked for: a run of a program, or what a client named (`HISTORY[:BRANCH]`). `steer`: its
 * histories are in that mode.
 */
export const AskedScope = z
  .union([
    z.strictObject({ run: z.string(), steer: z.literal(true).optional() }),
    z.strictObject({ name: z.string(), steer: z.literal(true).optional() }),
  ])
  .nullable();
export type AskedScope = z.infer<typeof AskedScope>;

const Branch = z.strictObject({ history: z.string(), branchId: z.number() });
export type CallBranch = z.infer<typeof Branch>;

/** Hash and size of a body that is larger than what is kept, and does not follow. */
const Unkept = z.strictObject({ sha256: z.string(), size: z.number() });

const STATUSES = ['answered', 'failed', 'cancelled', 'timed out'] as const satisfies readonly CallStatus[];

/** A request that went to an upstream; its body follows. */
const Started = z.strictObject({
  kind: z.literal('started'),
  id: z.string(),
  place: AskedScope,
  /** The run of a program that made it, where the place does not say so. */
  run: z.string().optional(),
  /** The method and path, without the query, which may hold a key. */
  method: z.string(),
  path: z.string(),
  /** Entries of earlier versions have neither this nor the next two. */
  origin: z.string().nullable().optional(),
  contentType: z.string().nullable().optional(),
  /** Milliseconds since 1970; null: it has not gone out yet. */
  sentAt: z.number().nullable().optional(),
  coding: z.string().nullable(),
  /** A hash of the session that its headers name. */
  session: z.string().optional(),
  /** False: the body is larger than what is kept, and is not here. */
  whole: z.boolean(),
  unkept: Unkept.optional(),
  /** Why it went out as it came, though observers steer its branch, or may do so. */
  unsteered: z.string().optional(),
});

/** How the exchange ended; the body of the response follows, as far as it came. */
const Ended = z.strictObject({
  kind: z.literal('ended'),
  id: z.string(),
  method: z.string(),
  path: z.string(),
  status: z.enum(STATUSES),
  /** Null: the upstream did not answer. */
  httpStatus: z.number().nullable(),
  contentType: z.string().nullable(),
  coding: z.string().nullable(),
  retryAfter: z.string().nullable().optional(),
  /** When the request went out, if that was not noted before. */
  sentAt: z.number().nullable().optional(),
  whole: z.boolean(),
  unkept: Unkept.optional(),
  firstByteMs: z.number().nullable(),
  durationMs: z.number(),
  error: z.strictObject({ code: z.string().nullable(), message: z.string() }).nullable(),
  /** Where the call is recorded, if that was known; null: its `started` is among those that wait. */
  branch: Branch.nullable(),
});

/** The entry of this kind and id needs not be recorded any more. */
const Done = z.strictObject({
  kind: z.literal('done'),
  id: z.string(),
  what: z.enum(['started', 'ended']),
});

/** A call that is under way, as far as its answer has come; the first piece of it that the client was given may follow. */
const Open = z.strictObject({
  kind: z.literal('open'),
  id: z.string(),
  method: z.string(),
  path: z.string(),
  /** Null: nothing has come yet. */
  httpStatus: z.number().nullable(),
  contentType: z.string().nullable(),
  coding: z.string().nullable(),
  retryAfter: z.string().nullable(),
  sentAt: z.number().nullable(),
  firstByteMs: z.number().nullable(),
  durationMs: z.number(),
  /** Where its beginning is recorded; null: it is not yet. */
  branch: Branch.nullable(),
});

/** The next piece of the answer of the call that the file is about, which its client was given. */
const Piece = z.strictObject({ kind: z.literal('piece'), durationMs: z.number() });

/** What is noted of a call that goes through the proxy. */
export const ProxyEntry = z.discriminatedUnion('kind', [Started, Ended, Done, Open, Piece]);
export type ProxyEntry = z.infer<typeof ProxyEntry>;
export type StartedEntry = z.infer<typeof Started>;
export type EndedEntry = z.infer<typeof Ended>;
export type OpenEntry = z.infer<typeof Open>;

/** Where an entry stands: in a file, or in memory where nothing may be written that has secrets. */
export type EntryRef =
  { readonly file: string; readonly at: number; readonly length: number } | { readonly bytes: Uint8Array };

/** An entry that is not recorded yet. */
export type Waiting = { readonly kind: 'started' | 'ended'; readonly id: string; readonly ref: EntryRef };

/** Lengths of the head and the body, a checksum over both, and one over these three: a wrong length is not a file that ends. */
export const PREFIX = 16;

/** An entry as it stands in a file: its prefix, its head as MessagePack, and the body. */
export const encodeEntry = (entry: ProxyEntry, body: readonly Uint8Array[] = []): Buffer[] => {
  const head = encode(entry, { ignoreUndefined: true });
  const prefix = Buffer.alloc(PREFIX);
  let sum = crc32(head);
  let size = 0;
  for (const piece of body) {
    sum = crc32(piece, sum);
    size += piece.length;
  }
  prefix.writeUInt32LE(head.length, 0);
  prefix.writeUInt32LE(size, 4);
  prefix.writeUInt32LE(sum, 8);
  prefix.writeUInt32LE(crc32(prefix.subarray(0, 12)), 12);
  return [
    prefix,
    ...[head, ...body].map((piece) => Buffer.from(piece.buffer, piece.byteOffset, piece.length)),
  ];
};

/** The entry that begins at an offset, and where the next one does. */
export type ReadEntry = { readonly entry: ProxyEntry; readonly body: Buffer; readonly next: number };

/** @returns undefined if the bytes end before it does @throws E_INPUT_SHAPE if it is damaged */
export const decodeEntry = (bytes: Buffer, at: number): ReadEntry | undefined => {
  if (at + PREFIX > bytes.length) return undefined;
  if (crc32(bytes.subarray(at, at + 12)) !== bytes.readUInt32LE(at + 12)) throw damagedAt(at);
  const body = bodyAt(bytes, at);
  const next = body + bytes.readUInt32LE(at + 4);
  if (next > bytes.length) return undefined;
  if (crc32(bytes.subarray(at + PREFIX, next)) !== bytes.readUInt32LE(at + 8)) throw damagedAt(at);
  try {
    const entry = readHead(bytes.subarray(at + PREFIX, body));
    return { entry, body: bytes.subarray(body, next), next };
  } catch {
    throw damagedAt(at);
  }
};

/** The head of an entry. Earlier versions wrote JSON, which begins with a brace; no map of MessagePack does. */
const readHead = (head: Buffer): ProxyEntry => {
  if (head[0] === BRACE) return ProxyEntry.parse(JSON.parse(head.toString()));
  // A head that is damaged may name any length.
  const most = head.length;
  const limits = { maxStrLength: most, maxBinLength: most, maxArrayLength: most, maxMapLength: most };
  return ProxyEntry.parse(decode(head, { ...limits, maxExtLength: most }));
};

const BRACE = 0x7b;

/** Where the body of the entry begins that begins at an offset. */
export const bodyAt = (bytes: Buffer, at: number): number => at + PREFIX + bytes.readUInt32LE(at);

/** Whose entry begins at an offset, if its lengths hold and its head can be read, whatever its body is. */
export const decodeHead = (
  bytes: Buffer,
  at: number,
): { readonly entry: StartedEntry | EndedEntry; readonly next: number } | undefined => {
  if (crc32(bytes.subarray(at, at + 12)) !== bytes.readUInt32LE(at + 12)) return undefined;
  const body = bodyAt(bytes, at);
  try {
    const entry = readHead(bytes.subarray(at + PREFIX, body));
    return entry.kind === 'started' || entry.kind === 'ended'
      ? { entry, next: body + bytes.readUInt32LE(at + 4) }
      : undefined;
  } catch {
    return undefined;
  }
};

const damagedAt = (at: number): Error =>
  fail('E_INPUT_SHAPE', `the calls that wait to be recorded are damaged at byte ${at}`, { at });
