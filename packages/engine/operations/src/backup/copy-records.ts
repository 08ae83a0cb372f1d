import { sha256Hex } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import {
  advanceCursor,
  controlOf,
  decodeBody,
  finishBody,
  openRecord,
  type Cursor,
  type EventLog,
  type LogRecord,
  type Opened,
  type OpenRecord,
} from '@stemma/log';
import { randomBytes } from 'node:crypto';
import type { WritableBackupFiles } from './backup-files.ts';
import type { BackupPartition, BackupPiece } from './manifest.ts';
import { bytesInPlace, entryOf } from './pieces.ts';
import { cursorOf, sourceOf } from './source-cursor.ts';

/** About the size of a piece. */
const PIECE_BYTES = 32 * 1024 * 1024;

export type CopyRecordsOptions = {
  readonly log: EventLog;
  readonly partition: number;
  /** The first offset that is not copied: where the log ended when the backup began. */
  readonly end: number;
  /** The offsets of records stay what they are: the log is an embedded one. */
  readonly inPlace: boolean;
  readonly files: WritableBackupFiles;
  /** Stores the contents that a record names. */
  readonly keepContents: (open: OpenRecord) => Promise<void>;
  readonly signal: AbortSignal;
  /** Each state that is durable in the files. */
  readonly saved: (state: BackupPartition) => Promise<void>;
  readonly progress: (bytes: number) => void;
};

/** Appends to the backup of a partition what the log holds behind it. @throws E_BUSY if the log returns nothing before its end */
export const copyRecords = async (
  before: BackupPartition,
  { log, partition, end, inPlace, files, keepContents, signal, saved, progress }: CopyRecordsOptions,
): Promise<BackupPartition> => {
  let state = before;
  let cursor: Cursor = cursorOf(log.id, partition, before.source);
  let waiting: Buffer[] = [];
  let damage: { readonly offset: number; readonly bytes: number }[] = [];
  let at = before.end;

  const flush = async (): Promise<void> => {
    signal.throwIfAborted();
    const bytes = Buffer.concat(waiting);
    const pieces: BackupPiece[] = [];
    if (bytes.length > 0) {
      const name = `log/${partition}/${String(state.end).padStart(16, '0')}-${randomBytes(4).toString('hex')}.seg`;
      await files.write(name, bytes);
      pieces.push({ name, base: state.end, bytes: bytes.length, sha256: sha256Hex(bytes) });
    }
    state = {
      end: at,
      pieces: [...state.pieces, ...pieces],
      damage: [...state.damage, ...damage],
      source: sourceOf(cursor),
    };
    [waiting, damage] = [[], []];
    await saved(state);
  };
  const add = (record: LogRecord, open: Opened['open']): void => {
    const translated = (): Buffer | undefined =>
      record.key === null || open === undefined || record.damaged || isOfOffsets(record)
        ? undefined
        : entryOf(at, record.key, record.bytes);
    const placed = inPlace ? bytesInPlace(record) : { bytes: translated(), damage: false };
    if (placed.bytes === undefined) return;
    if (placed.damage) damage.push({ offset: at, bytes: placed.bytes.length });
    waiting.push(placed.bytes);
    at += placed.bytes.length;
  };

  for (let from = cursor.offset; from < end;) {
    signal.throwIfAborted();
    const { records, next } = await log.read(partition, from);
    if (next <= from) throw fail('E_BUSY', `the log returns nothing at ${partition}@${from}, before its end`);
    const opened = records
      .filter(({ offset }) => offset < end)
      .map((record) => ({ record, open: openRecord(record.bytes) }));
    for (const { record, open } of opened) {
      if (open !== undefined) await keepContents(open);
      add(record, open);
    }
    cursor = advanceCursor(cursor, opened);
    from = next;
    if (at - state.end >= PIECE_BYTES) await flush();
    progress(at);
  }
  if (waiting.length > 0 || cursor.offset !== state.source.offset) await flush();
  return state;
};

/**
 * True for an acknowledgement of damage: it names an offset of a log on Kafka, which is none of the restored log. The damaged
 * record is not copied either.
 */
const isOfOffsets = ({ key, bytes }: LogRecord): boolean => {
  const open = key !== null && controlOf(key) !== undefined ? openRecord(bytes) : undefined;
  if (open === undefined) return false;
  const { events } = finishBody(decodeBody(open.envelope.v, open.frame, open.bodyAt), () => undefined);
  return events.some(({ type }) => type === 'DamageAcknowledged');
};
