import { fail } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import { partitionOf, readFrame, type AcceptedFrame, type EventLog, type HeadState } from '@stemma/log';
import { openFileHandle } from '@stemma/machine';
import type { Keyring } from '@stemma/privacy';
import { createHash } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import type { ContentStore } from '@stemma/contents';
import { acceptedFrames } from '../frames/accepted-frames.ts';
import { contentsOf } from '../frames/contents-of.ts';
import { encodeEnd, encodeHeader, encodeItem, type BundleHeader, type BundleItem } from './bundle-file.ts';

/** What is put into a bundle. */
export type BundleOptions = BundleHeader & {
  /** The histories that the run has calls in; or that are bundled whole. */
  readonly histories: readonly string[];
  /** The ids of its attempts; `all`: the histories are bundled with all that they have. */
  readonly attempts: ReadonlySet<string> | 'all';
  /** The file, which is replaced. */
  readonly to: string;
  readonly signal: AbortSignal;
};

/** What a bundle holds. `bytes`: of the file. */
export type BundleReport = {
  readonly to: string;
  readonly history: string;
  readonly run: string | null;
  readonly histories: number;
  readonly frames: number;
  readonly contents: number;
  readonly bytes: number;
};

type Source = {
  readonly log: EventLog;
  readonly contents: ContentStore;
  readonly keyring: Pick<Keyring, 'subjectOf' | 'erased'>;
};

/**
 * Writes a run as one file: the frames of its histories as far as the last one that is of the run, byte for byte, and the contents that
 * they name; or whole histories, with all their branches. The file is there whole, or as it was.
 *
 * @throws E_BUNDLE_ERASABLE for a history that can be erased: its frames are sealed, and their key is in no file; E_PARTITION_CLOSED;
 *   E_CONTENT_MISSING, E_CONTENT_DAMAGED; E_IO
 */
export const writeBundle = async (source: Source, options: BundleOptions): Promise<BundleReport> => {
  const { log, keyring } = source;
  const { history, branchId, run, name, histories, to, signal } = options;
  const sealed = histories.find(
    (each) => keyring.subjectOf(each) !== undefined || keyring.erased().includes(each),
  );
  if (sealed !== undefined)
    throw fail('E_BUNDLE_ERASABLE', `the history ${sealed} can be erased, and a bundle of it could not`, {
      history: sealed,
    });
  const last = await lastFrames(source, options);
  const partitions = partitionsOf(histories, log);
  const file = await openReplacement(to);
  const stored = new Set<string>();
  let frames = 0;
  try {
    await file.write([encodeHeader({ history, branchId, run, name })]);
    for await (const some of acceptedFrames(log, new Map(), partitions))
      for (const frame of some) {
        if (frame.envelope.seq > (last.get(frame.envelope.history) ?? -1)) continue;
        signal.throwIfAborted();
        for (const { ref, bytes } of await contentsOf(frame, source.contents)) {
          if (stored.has(ref.sha256)) continue;
          stored.add(ref.sha256);
          await file.write(encodeItem({ kind: 'content', sha256: ref.sha256, bytes }));
        }
        await file.write(encodeItem({ kind: 'frame', bytes: frame.bytes } satisfies BundleItem));
        frames++;
      }
    const bytes = await file.end();
    return { to, history, run, histories: last.size, frames, contents: stored.size, bytes };
  } catch (error) {
    await file.leave();
    throw error;
  }
};

/** Ascending, so that a run gives the same bytes whenever it is bundled. */
const partitionsOf = (histories: readonly string[], { partitions }: EventLog): readonly number[] =>
  [...new Set(histories.map((each) => partitionOf(each, partitions)))].sort((a, b) => a - b);

/** Of each history the number of the last frame that is of the run: of a call, or of the run itself. */
const lastFrames = async (
  { log, contents }: Source,
  { histories, attempts, run, signal }: BundleOptions,
): Promise<ReadonlyMap<string, number>> => {
  const wanted = new Set(histories);
  const last = new Map<string, number>();
  if (attempts === 'all') {
    const heads = new Map<string, HeadState>();
    for await (const _frames of acceptedFrames(log, heads, partitionsOf(histories, log)))
      signal.throwIfAborted();
    for (const [history, { next }] of heads) if (wanted.has(history)) last.set(history, next - 1);
    return last;
  }
  const isPart = (event: HistoryEvent): boolean =>
    ('attemptId' in event && attempts.has(event.attemptId)) || ('run' in event && event.run === run);
  for await (const frames of acceptedFrames(log, new Map(), partitionsOf(histories, log)))
    for (const frame of frames) {
      const { history, seq } = frame.envelope;
      if (!wanted.has(history)) continue;
      signal.throwIfAborted();
      if ((await eventsOf(frame, contents)).some(isPart)) last.set(history, seq);
    }
  return last;
};

const eventsOf = async (
  frame: AcceptedFrame,
  contents: Pick<ContentStore, 'get'>,
): Promise<readonly HistoryEvent[]> => (await readFrame(frame, contents)).body.events;

type Replacement = {
  readonly write: (parts: readonly Uint8Array[]) => Promise<void>;
  /** Writes the last line, and puts the file in place of the old one; gives its bytes. */
  readonly end: () => Promise<number>;
  /** Removes what was written. */
  readonly leave: () => Promise<void>;
};

/** A file that takes the place of another once all of it is written. */
const openReplacement = async (path: string): Promise<Replacement> => {
  const partial = `${path}.${process.pid}.partial`;
  const whole = createHash('sha256');
  const handle = await openFileHandle(partial, 'new').catch((error: unknown) => {
    throw fail('E_IO', `${path} cannot be written: ${String(error)}`, { file: path });
  });
  let size = 0;
  const write = async (parts: readonly Uint8Array[]): Promise<void> => {
    const { bytesWritten } = await handle.writev([...parts]);
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (bytesWritten !== length) throw fail('E_IO', `${path} cannot be written: the disk is full`);
    for (const part of parts) whole.update(part);
    size += length;
  };
  return {
    write,
    end: async () => {
      await write([encodeEnd(whole.copy().digest('hex'))]);
      await handle.sync();
      await handle.close();
      await rename(partial, path);
      return size;
    },
    leave: async () => {
      await handle.close();
      await rm(partial, { force: true });
    },
  };
};
