import { parseWideJson, sha256Hex } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { createHash } from 'node:crypto';
import { z } from 'zod';

/*
 * stemma bundle 1
 * {"history":"shop","branchId":null,"run":"5f…","name":"shop"}
 * content <SHA-256 in hexadecimal> <bytes>
 * …its bytes as they are…
 * frame <bytes>
 * …its bytes as they are…
 * end <SHA-256 in hexadecimal of all lines and bytes above>
 *
 * A line feed follows the bytes of each content and frame. Nothing is compressed or encoded, so that what two versions of a file
 * share, git stores once.
 */
const FIRST = /^stemma bundle (\d{1,9})$/;
const VERSION = 1;

/** The bytes of a bundle, which may be more than there is memory. */
export type BundleBytes = {
  readonly size: number;
  /** As many of these as there are. */
  readonly read: (at: number, length: number) => Buffer;
};

/** What a bundle is of: a run, or all calls, and the history that people know it by. */
export const BundleHeader = z.strictObject({
  history: z.string().min(1).max(512),
  /** Only the calls on the way to the tip of this branch are of the run; null: those of all branches. */
  branchId: z.int().nonnegative().nullable(),
  /** Null: all calls of the history. */
  run: z.string().min(1).max(512).nullable(),
  /** What people call the history. */
  name: z.string().max(2_048),
});
export type BundleHeader = z.infer<typeof BundleHeader>;

/** A content, or a frame, in a bundle. */
export type BundleItem =
  | { readonly kind: 'content'; readonly sha256: string; readonly bytes: Uint8Array }
  | { readonly kind: 'frame'; readonly bytes: Uint8Array };

const LF = Buffer.from('\n');

/** The lines that a bundle begins with. */
export const encodeHeader = ({ history, branchId, run, name }: BundleHeader): Buffer =>
  Buffer.from(`stemma bundle ${VERSION}\n${JSON.stringify({ history, branchId, run, name })}\n`);

/** The bytes of a content or a frame in a bundle. */
export const encodeItem = (item: BundleItem): readonly Uint8Array[] => {
  const size = item.bytes.length;
  const line = item.kind === 'content' ? `content ${item.sha256} ${size}\n` : `frame ${size}\n`;
  return [Buffer.from(line), item.bytes, LF];
};

/** The last line of a bundle. @param sha256 of all that stands before it */
export const encodeEnd = (sha256: string): Buffer => Buffer.from(`end ${sha256}\n`);

/** `end `, the hash and a line feed. */
const END_BYTES = 69;

/** Bytes that are hashed at once. */
const CHUNK = 1024 * 1024;

/** More bytes has no content and no frame: less than two of the largest content (64 MiB) in its frame. */
const MOST_BYTES = 128 * 1024 * 1024;

/**
 * What a bundle holds, in its order, an item at a time. The hash of the whole is compared before anything is given.
 *
 * @throws E_BUNDLE_DAMAGED if it is none, ends early, or has other bytes than were written; E_VERSION_NEEDED
 */
export const decodeBundle = (
  file: BundleBytes,
  path: string,
): { readonly header: BundleHeader; readonly items: Iterable<BundleItem> } => {
  const lines = linesIn(file, path);
  const [, version] = FIRST.exec(lines.next(40)) ?? [];
  if (version === undefined) throw lines.damaged('it is no bundle of Stemma');
  if (Number(version) > VERSION)
    throw fail(
      'E_VERSION_NEEDED',
      `the bundle has the format ${version}; this Stemma reads format ${VERSION}`,
    );
  const end = file.size - END_BYTES;
  if (end < 0 || !file.read(end, END_BYTES).equals(encodeEnd(hashOf(file, end))))
    throw lines.damaged('it is cut off, or has other bytes than were written');
  return { header: headerIn(lines.next(8_192), lines.damaged), items: itemsIn(lines, end) };
};

/** SHA-256 of the first bytes, in hexadecimal. */
const hashOf = ({ read }: BundleBytes, length: number): string => {
  const hash = createHash('sha256');
  for (let at = 0; at < length; at += CHUNK) hash.update(read(at, Math.min(CHUNK, length - at)));
  return hash.digest('hex');
};

type Lines = {
  /** The line that comes next, without its end. @param most bytes that it has */
  readonly next: (most: number) => string;
  readonly take: (size: number) => Uint8Array;
  readonly at: () => number;
  readonly damaged: (why: string) => Error;
};

const linesIn = ({ size: all, read }: BundleBytes, path: string): Lines => {
  let at = 0;
  const damaged = (why: string): Error => fail('E_BUNDLE_DAMAGED', `${path}: ${why}`, { file: path });
  return {
    next: (most) => {
      const bytes = read(at, most);
      const end = bytes.indexOf(0x0a);
      if (end < 0) throw damaged(at === 0 ? 'it is no bundle of Stemma' : `it has no line at byte ${at}`);
      at += end + 1;
      return bytes.toString('utf8', 0, end);
    },
    take: (size) => {
      const isThere = size <= MOST_BYTES && size < all - at;
      const bytes = isThere ? read(at, size + 1) : Buffer.alloc(0);
      if (bytes.length !== size + 1 || bytes[size] !== 0x0a)
        throw damaged(`it has no ${size} bytes at byte ${at}`);
      at += size + 1;
      return bytes.subarray(0, size);
    },
    at: () => at,
    damaged,
  };
};

const headerIn = (line: string, damaged: Lines['damaged']): BundleHeader => {
  try {
    const parsed = BundleHeader.safeParse(parseWideJson(line, 'the head of the bundle'));
    if (parsed.success) return parsed.data;
  } catch (error) {
    if (!isStemmaError(error)) throw error;
  }
  throw damaged('its second line does not say what it is of');
};

const ITEM = /^(?:content ([\da-f]{64})|frame) (0|[1-9]\d{0,9})$/;

function* itemsIn({ next, take, at, damaged }: Lines, end: number): Generator<BundleItem> {
  while (at() < end) {
    const from = at();
    const [line, sha256, size] = ITEM.exec(next(100)) ?? [];
    if (line === undefined) throw damaged(`it has neither a content nor a frame at byte ${from}`);
    const bytes = take(Number(size));
    if (sha256 === undefined) yield { kind: 'frame', bytes };
    else if (sha256Hex(bytes) === sha256) yield { kind: 'content', sha256, bytes };
    else throw damaged(`the content at byte ${from} has another hash than it says`);
  }
  if (at() !== end) throw damaged('its last line does not follow what it holds');
}
