import { fail, fromWireError } from '@stemma/errors';
import type { Entry, EntryOffset, RawLog } from '@stemma/log';
import { openAppendsHere, type AppendsHere } from './append-here.ts';
import type { LogMachine } from './log-machine.ts';
import { MAX_KEY_BYTES, MAX_RECORD_BYTES } from './entry.ts';
import { type AppendGroup, type JobAnswer, type WorkerOptions } from './job-messages.ts';

/** The process's side of the appending thread: requests that come while it works are sent as one group. */
export type Appender = {
  readonly partitions: number;
  /** The folder of the lock, and what was made anew, in sentences. */
  readonly lock: LockFolder;
  /** The lock again, after another process has replaced it. @throws as opening */
  readonly enterAgain: () => Promise<LockFolder>;
  readonly append: RawLog['append'];
  /** @throws E_IO while the disk has no room for a record like those that it refused, or for a small one */
  readonly checkWritable: () => Promise<void>;
  /** Called after each append. */
  readonly appended: Set<() => void>;
  readonly close: () => Promise<void>;
};

export type LockFolder = { readonly lock: string; readonly repaired: readonly string[] };

type Waiting = {
  readonly partition: number;
  readonly entries: readonly Entry[];
  readonly bytes: number;
  readonly resolve: (placed: readonly EntryOffset[]) => void;
  readonly reject: (error: unknown) => void;
};

const MAX_GROUP_BYTES = 16 * 1024 * 1024;
/** A command that says little, with what stands around it. */
const SMALL_RECORD = 4096;

type Opened = Extract<JobAnswer, { kind: 'opened' }>;

type AppendState = {
  /** What this process appends itself, without the thread. */
  here: AppendsHere;
  /** The groups that are being appended. */
  flushing: Promise<void> | undefined;
  closed: boolean;
  /** The disk did not accept the data. */
  lost: Error | undefined;
  /** The bytes of the last group that the disk had no room for. */
  refused: number;
};

/** @param onFatal is called when the disk did not accept the data; it must end the process. */
export const openAppender = async (
  machine: LogMachine,
  options: WorkerOptions,
  onFatal: (message: string) => void,
): Promise<Appender> => {
  const thread = machine.startThread(options, onFatal);
  const open = async (): Promise<Opened> => {
    const answer = await thread.ask({ kind: 'open' });
    if (answer.kind !== 'opened') throw fail('E_INTERNAL', 'the appending thread did not open the log');
    return answer;
  };
  const openHere = ({ partitions, lock }: Opened): AppendsHere =>
    openAppendsHere(machine, { ...options, partitions }, lock);
  const start = async (): Promise<readonly [Opened, AppendState]> => {
    const answer = await open();
    const here = openHere(answer);
    return [answer, { here, flushing: undefined, closed: false, lost: undefined, refused: 0 }];
  };
  const [opened, state] = await start().catch(async (error: unknown) => {
    await thread.end();
    throw error;
  });
  const appended = new Set<() => void>();
  const queue: Waiting[] = [];

  const heard = (answer: JobAnswer): JobAnswer => {
    if (answer.kind === 'failed') throw fromWireError(answer.failure);
    if (answer.kind !== 'fatal') return answer;
    state.lost = fail('E_IO', answer.message);
    onFatal(answer.message);
    throw state.lost;
  };
  const handOver = async (flat: AppendGroup, group: readonly Waiting[]): Promise<void> => {
    const asked = machine.now();
    const answer = await thread.ask({ kind: 'append', group: flat });
    if (answer.kind !== 'appended') return;
    state.refused = 0;
    state.here.took(answer.took, Math.max(0, machine.now() - asked - answer.took));
    resolveEach(group, answer);
  };
  const appendGroup = async (group: readonly Waiting[]): Promise<void> => {
    if (state.lost !== undefined) throw state.lost;
    const alone = aloneIn(group);
    const own = alone && state.here.append(alone);
    if (own === undefined) {
      await handOver(flattenGroup(group), group);
      return;
    }
    const answer = heard(own);
    if (answer.kind !== 'appended') return;
    state.refused = 0;
    state.here.took(answer.took);
    resolveEach(group, answer);
    // Who writes one record after the other here would let nobody else have a turn.
    await machine.nextTurn();
  };
  const flush = async (): Promise<void> => {
    // Requests of the same turn of the event loop go into the same group.
    await Promise.resolve();
    while (queue.length > 0) {
      const group = nextGroup(queue);
      await appendGroup(group).catch((error: unknown) => {
        state.refused = group.reduce((sum, { bytes }) => sum + bytes, 0);
        for (const { reject } of group) reject(error);
      });
    }
    state.flushing = undefined;
  };
  return {
    partitions: opened.partitions,
    lock: opened,
    enterAgain: async () => {
      const before = state.here;
      const answer = await open();
      state.here = openHere(answer);
      await before.close();
      return answer;
    },
    appended,
    append: async (partition, entries) => {
      if (state.closed) throw fail('E_LOG_CLOSED', 'the log was closed');
      refuseUnknownPartition(partition, opened.partitions);
      refuseLarge(entries);
      if (entries.length === 0) return [];
      const bytes = entries.reduce((sum, entry) => sum + entry.bytes.length, 0);
      const placed = await new Promise<readonly EntryOffset[]>((resolve, reject) => {
        queue.push({ partition, entries, bytes, resolve, reject });
        state.flushing ??= flush();
      });
      for (const tell of appended) tell();
      return placed;
    },
    checkWritable: async () => {
      if (state.closed) throw fail('E_LOG_CLOSED', 'the log was closed');
      if (state.lost !== undefined) throw state.lost;
      // What is appended meanwhile says it, too.
      await state.flushing;
      await thread.ask({ kind: 'try', bytes: state.refused + SMALL_RECORD });
    },
    close: async () => {
      if (state.closed) return;
      state.closed = true;
      await state.flushing;
      await state.here.close();
      await thread.ask({ kind: 'close' }).catch(() => undefined);
      await thread.end();
    },
  };
};

/** @throws E_LOG_MISMATCH */
export const refuseUnknownPartition = (partition: number, partitions: number): void => {
  if (!Number.isInteger(partition) || partition < 0 || partition >= partitions)
    throw fail('E_LOG_MISMATCH', `there is no partition ${partition}`);
};

const nextGroup = (queue: Waiting[]): Waiting[] => {
  let bytes = 0;
  let count = 0;
  while (count < queue.length && (count === 0 || bytes < MAX_GROUP_BYTES))
    bytes += queue[count++]?.bytes ?? 0;
  return queue.splice(0, count);
};

/** The group of a record that is alone: its bytes as they are, since they do not leave the thread. */
const aloneIn = (group: readonly Waiting[]): AppendGroup | undefined => {
  const [{ partition, entries } = { partition: 0, entries: [] }] = group;
  const [entry] = entries;
  if (group.length !== 1 || entries.length !== 1 || entry === undefined) return undefined;
  return {
    partitions: [partition],
    keys: [entry.key],
    lengths: [entry.bytes.length],
    bytes: entry.bytes,
  };
};

const flattenGroup = (group: readonly Waiting[]): AppendGroup => {
  const all = group.flatMap(({ entries }) => entries);
  const bytes = new Uint8Array(group.reduce((sum, each) => sum + each.bytes, 0));
  let at = 0;
  for (const entry of all) {
    bytes.set(entry.bytes, at);
    at += entry.bytes.length;
  }
  return {
    partitions: group.flatMap(({ partition, entries }) => entries.map(() => partition)),
    keys: all.map(({ key }) => key),
    lengths: all.map((entry) => entry.bytes.length),
    bytes,
  };
};

const resolveEach = (
  group: readonly Waiting[],
  { offsets, nexts }: { offsets: Float64Array; nexts: Float64Array },
): void => {
  let i = 0;
  for (const { entries, resolve } of group) {
    resolve(entries.map(() => ({ offset: offsets[i] as number, next: nexts[i++] as number })));
  }
};

const refuseLarge = (entries: readonly Entry[]): void => {
  for (const { key, bytes } of entries) {
    if (Buffer.byteLength(key) > MAX_KEY_BYTES)
      throw fail('E_KEY_TOO_LONG', 'a key is longer than 1,024 bytes');
    if (bytes.length > MAX_RECORD_BYTES)
      throw fail('E_FRAME_TOO_LARGE', `a record has ${bytes.length} bytes, more than ${MAX_RECORD_BYTES}`);
  }
};
