import type { ContentRef } from '@stemma/canonical';
import { openDirectoryContents, type ContentStore } from '@stemma/contents';
import { fail, isStemmaError } from '@stemma/errors';
import {
  checkpointAtStart,
  decodeBody,
  missingContents,
  partitionOf,
  raiseVersion,
  readPartition,
  sameBytes,
  sealRecord,
  type AcceptedFrame,
  type Entry,
  type EventLog,
  type HeadState,
} from '@stemma/log';
import { join, resolve } from 'node:path';
import { openHomeLog } from './open-log.ts';

export type CopyOptions = {
  /** A home's directory, or `kafka://HOST:PORT/PREFIX`. */
  readonly from: string;
  readonly to: string;
  /** The home that holds the contents, if a log is on Kafka. */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Called with the number of frames copied so far, those of an earlier copy included. */
  readonly progress?: (frames: number) => void;
};

export type CopyReport = {
  readonly histories: number;
  /** Frames appended now; `before`: frames that an earlier copy had appended. */
  readonly frames: number;
  readonly before: number;
  /** The number of contents that were stored and verified. */
  readonly contents: number;
  /** Histories of which only the frames before a damaged record could be copied. */
  readonly damaged: readonly string[];
  readonly from: string;
  readonly to: string;
};

/** About how many bytes go into one append. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_ENTRIES = 500;

/**
 * Copies the accepted frames of every history, byte for byte and in their order, to another log, which has its own id
 * (record §5). It stores and verifies contents before the frames that name them. It skips what the target already has, so
 * an interrupted copy is resumed by running it again. At the end it compares every history of both logs.
 *
 * @throws E_USAGE if the target is the home of the source on Kafka; E_LOG_NOT_EMPTY if it holds anything else: both before
 *   anything is written; E_HOME_NOT_FOUND,
 *   E_LOG_NOT_FOUND for the source; E_CONTENT_MISSING, E_CONTENT_DAMAGED; E_PARTITION_CLOSED; E_CANCELLED
 */
export const copyLog = async (options: CopyOptions): Promise<CopyReport> => {
  const { from, to } = options;
  refuseOwnHome(options);
  await using source = await openCopySide(from, options.directory, false);
  await using target = await openCopySide(to, options.directory, true);
  if (source.log.id === target.log.id) throw fail('E_USAGE', `${from} and ${to} are the same log`);
  const existing = await readHeads(target.log);
  if (existing.size > 0) await checkTargetIsPrefix(source.log, existing, to);
  const copied = await copyFrames(source, target, existing, options);
  await checkSameHeads(source.log, target.log, copied.heads);
  const damaged = [...copied.heads].filter(([, { state }]) => state !== 'open').map(([history]) => history);
  const { frames, before, contents } = copied;
  return {
    histories: copied.heads.size,
    frames,
    before,
    contents,
    damaged,
    from: source.log.id,
    to: target.log.id,
  };
};

const isKafka = (address: string): boolean => address.startsWith('kafka:');

/**
 * The home of a log on Kafka would have a log of its own beside it, with the same histories and the same contents: whoever
 * opens it without `STEMMA_LOG` would go on in the copy. @throws E_USAGE
 */
const refuseOwnHome = ({ from, to, directory }: CopyOptions): void => {
  if (isKafka(from) && !isKafka(to) && resolve(to) === resolve(directory))
    throw fail(
      'E_USAGE',
      `${to} is the home with the contents of ${from}: its histories would have two logs; copy them to another directory`,
    );
};

type CopySide = { readonly log: EventLog; readonly contents: ContentStore } & AsyncDisposable;

const openCopySide = async (address: string, home: string, create: boolean): Promise<CopySide> => {
  const kafka = isKafka(address);
  const directory = kafka ? home : resolve(address);
  const { log } = await openHomeLog({ directory, create, ...(kafka && { address }) });
  try {
    const contents = await openDirectoryContents(join(directory, 'contents'));
    return {
      log,
      contents,
      [Symbol.asyncDispose]: async () => {
        await contents.close();
        await log.close();
      },
    };
  } catch (error) {
    await log.close();
    throw error;
  }
};

/** Every accepted frame of a log but the control frames, in order. @throws E_PARTITION_CLOSED */
async function* acceptedFrames(
  log: EventLog,
  heads: Map<string, HeadState>,
): AsyncGenerator<readonly AcceptedFrame[]> {
  for (let partition = 0; partition < log.partitions; partition++) {
    const known = new Map<string, HeadState>();
    const checkpoint = await checkpointAtStart(log, partition);
    for await (const batch of readPartition(log, { checkpoint, heads: { load: () => known } })) {
      for (const [history, head] of batch.heads) {
        known.set(history, head);
        if (!history.startsWith('log:')) heads.set(history, head);
      }
      yield batch.accepted.filter(({ control }) => !control);
      if (batch.held !== null)
        throw fail(
          'E_PARTITION_CLOSED',
          `the damaged record ${partition}@${batch.held} may belong to any history: nothing after it can be copied`,
          { partition, offset: batch.held },
        );
    }
  }
}

const readHeads = async (log: EventLog): Promise<Map<string, HeadState>> => {
  const heads = new Map<string, HeadState>();
  const frames = acceptedFrames(log, heads);
  while ((await frames.next()).done !== true);
  return heads;
};

/** @throws E_LOG_NOT_EMPTY unless every history of the target is the beginning of the same one of the source */
const checkTargetIsPrefix = async (
  source: EventLog,
  existing: ReadonlyMap<string, HeadState>,
  to: string,
): Promise<void> => {
  const unmatched = new Map(existing);
  for await (const frames of acceptedFrames(source, new Map()))
    for (const { envelope, hash } of frames) {
      const head = unmatched.get(envelope.history);
      if (head?.next === envelope.seq + 1 && sameBytes(head.prev, hash)) unmatched.delete(envelope.history);
    }
  const [history] = unmatched.keys();
  if (history !== undefined)
    throw fail(
      'E_LOG_NOT_EMPTY',
      `${to} holds a history ${history} that is not a prefix of the one to copy`,
      {
        history,
      },
    );
};

type Copied = {
  readonly heads: ReadonlyMap<string, HeadState>;
  readonly frames: number;
  readonly before: number;
  readonly contents: number;
};

const copyFrames = async (
  source: CopySide,
  target: CopySide,
  existing: ReadonlyMap<string, HeadState>,
  { signal, progress = () => undefined }: CopyOptions,
): Promise<Copied> => {
  const heads = new Map<string, HeadState>();
  const stored = new Set<string>();
  const waiting = new Map<number, { readonly entries: Entry[]; bytes: number }>();
  /** The version of frames that is known to be allowed in a partition of the target. */
  const raised = new Map<number, number>();
  let [frames, before] = [0, 0];
  const flush = async (partition: number): Promise<void> => {
    const batch = waiting.get(partition);
    if (batch === undefined) return;
    waiting.delete(partition);
    signal.throwIfAborted();
    await target.log.append(partition, batch.entries);
    frames += batch.entries.length;
    progress(before + frames);
  };
  for await (const some of acceptedFrames(source.log, heads))
    for (const frame of some) {
      const { history, seq, v } = frame.envelope;
      if (seq < (existing.get(history)?.next ?? 0)) {
        before++;
        continue;
      }
      await copyContents(frame, source.contents, target.contents, stored);
      const partition = partitionOf(history, target.log.partitions);
      if (v > (raised.get(partition) ?? 1)) {
        const { at } = decodeBody(v, frame.bytes, frame.bodyAt);
        const start = await checkpointAtStart(target.log, partition);
        await raiseVersion(target.log, start, { load: () => new Map() }, { version: v, at });
        raised.set(partition, v);
      }
      const batch = waiting.get(partition) ?? { entries: [], bytes: 0 };
      waiting.set(partition, batch);
      batch.entries.push({ key: history, bytes: sealRecord(frame.bytes) });
      batch.bytes += frame.bytes.length;
      if (batch.bytes >= MAX_BYTES || batch.entries.length >= MAX_ENTRIES) await flush(partition);
    }
  for (const partition of waiting.keys()) await flush(partition);
  return { heads, frames, before, contents: stored.size };
};

/** Stores the contents that a frame names, and those that they name. Reading and storing both verify the hash. */
const copyContents = async (
  { envelope, bytes, bodyAt }: AcceptedFrame,
  from: ContentStore,
  to: ContentStore,
  stored: Set<string>,
): Promise<void> => {
  const fetched = new Map<string, Uint8Array>();
  const find = (ref: ContentRef): Uint8Array | undefined => fetched.get(ref.sha256);
  try {
    const body = decodeBody(envelope.v, bytes, bodyAt);
    for (let missing = missingContents(body, find); missing.length > 0; missing = missingContents(body, find))
      for (const ref of missing) {
        const content = await from.get(ref);
        if (!stored.has(ref.sha256)) await to.put(content);
        stored.add(ref.sha256);
        fetched.set(ref.sha256, content);
      }
  } catch (error) {
    // A frame that cannot be decoded names no contents; its bytes are copied as they are.
    if (!isStemmaError(error, 'E_FRAME_INVALID')) throw error;
  }
};

/** @throws E_CONFLICT if another process wrote to the target at the same time */
const checkSameHeads = async (
  source: EventLog,
  target: EventLog,
  expected: ReadonlyMap<string, HeadState>,
): Promise<void> => {
  const heads = await readHeads(target);
  for (const [history, { next, prev }] of expected) {
    const copy = heads.get(history);
    if (next > 0 && (copy?.next !== next || !sameBytes(copy.prev, prev)))
      throw fail(
        'E_CONFLICT',
        `the history ${history} differs between ${target.id} and ${source.id}: copy again`,
        {
          history,
        },
      );
  }
};
