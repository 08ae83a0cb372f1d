import { sha256Hex } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { z } from 'zod';

const count = z.int().nonnegative();
const hash = z.string().regex(/^[\da-f]{64}$/);

const Piece = z.strictObject({
  /** The file of the backup with its entries. */
  name: z.string().regex(/^log\/\d+\/\d{16}-[\da-f]{8}\.seg$/),
  /** The offset of its first entry. */
  base: count,
  bytes: count,
  sha256: hash,
});

const Partition = z.strictObject({
  /** Where the partition ends in the backup. */
  end: count,
  pieces: z.array(Piece),
  /** What the log could not read: these bytes stand for it, at its offset. */
  damage: z.array(z.strictObject({ offset: count, bytes: count })),
  /** Where the next backup continues in the log, and SHA-256 of the up to 64 records before that (record §5). */
  source: z.strictObject({ offset: count, from: z.array(count), tail: z.base64() }),
});

const Problem = z.strictObject({
  partition: count,
  offset: count,
  history: z.string().nullable(),
  code: z.string(),
  message: z.string(),
});

const Manifest = z.strictObject({
  format: z.literal(1),
  /** The id of the log. */
  log: z.string(),
  /** When the backup began: all that was acknowledged before is in it. */
  began: z.string(),
  records: count,
  accepted: count,
  contents: count,
  partitions: z.array(Partition).min(1),
  /** What was wrong in the log itself when it was backed up. */
  problems: z.array(Problem),
  /** What the home has noted of its keys and rules, which are in no backup: the print of each file, by its name. */
  noted: z.record(z.string().regex(/^\w[\w.-]*(?:\/\w[\w.-]*)*$/), z.string().max(1_000)).default({}),
});

export type BackupPiece = z.infer<typeof Piece>;
export type BackupPartition = z.infer<typeof Partition>;
export type BackupProblem = z.infer<typeof Problem>;
export type BackupManifest = z.infer<typeof Manifest>;

/** The manifest of the newest complete backup. */
export const MANIFEST = 'manifest.json';
/** That of a run that has not ended. */
export const PARTIAL = 'partial.json';

/** JSON with a SHA-256 of the rest, so that no bit of it changes unseen. */
export const encodeManifest = (manifest: BackupManifest): Buffer => {
  const text = JSON.stringify(manifest);
  return Buffer.from(`{"sha256":"${sha256Hex(Buffer.from(text))}","manifest":${text}}\n`);
};

/** @throws E_BACKUP_DAMAGED, E_VERSION_NEEDED */
export const decodeManifest = (bytes: Uint8Array, name: string): BackupManifest => {
  const text = Buffer.from(bytes).toString('utf8');
  const found = /^\{"sha256":"([\da-f]{64})","manifest":(.*)\}\n$/s.exec(text);
  const [, sha256, inner = ''] = found ?? [];
  if (sha256 === undefined || sha256Hex(Buffer.from(inner)) !== sha256)
    throw fail('E_BACKUP_DAMAGED', `${name} has other bytes than its hash says`, { file: name });
  const value = jsonIn(inner);
  const { data: { format } = { format: 1 } } = z.object({ format: z.number() }).safeParse(value);
  if (format > 1)
    throw fail('E_VERSION_NEEDED', `the backup has the format ${format}; this Stemma reads format 1`);
  const parsed = Manifest.safeParse(value);
  if (parsed.success) return parsed.data;
  throw fail('E_BACKUP_DAMAGED', `${name} is no manifest of a backup`, { file: name });
};

/** What a text says as JSON; undefined if it is none. */
const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
