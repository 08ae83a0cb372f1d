import { readHistoryHeads } from '@stemma/history-store';
import {
  readPartition,
  type Checkpoint,
  type EventLog,
  type HeadState,
  type RevalidatingReader,
} from '@stemma/log';
import { encodeCheckpoint, openWindowSize } from '@stemma/projector';
import type { Generation } from '@stemma/row-store';
import type { FoldedWindow, FoldWorkers } from './fold-workers.ts';

/**
 * Windows that are read ahead of the rows: enough that a thread with few of a window's frames need not wait. Each takes its records,
 * its rows as bytes, and its rows as objects in the threads: some 30 MB.
 */
const windowsFor = (threads: number): number => Math.max(3, Math.min(4, threads));

/** A run of a partition to an offset, or to the end of the log. */
export type LongRun = {
  readonly partition: number;
  /** The rows' checkpoint, encoded. */
  readonly cursor: Uint8Array;
  readonly until: number | undefined;
  /** Frames in a window, at most. */
  readonly frames: number | undefined;
};

/** `irregular`: the next frames are to be folded without threads. */
export type PartitionRunEnd = 'ended' | 'stopped' | 'irregular';

export type RunInWorkers = {
  readonly log: EventLog;
  readonly generation: Generation;
  readonly workers: FoldWorkers;
  readonly reader: RevalidatingReader;
  readonly partition: number;
  /** Where the rows are. */
  readonly checkpoint: Checkpoint;
  readonly cursor: Uint8Array;
  /** Records at or after this offset are not read. */
  readonly until?: number;
  /** Frames in a window, at most. */
  readonly frames?: number;
  /** Called after each commit, and waited for: true stops the run there. */
  readonly committed: (commit: Committed) => Promise<boolean>;
};

export type Committed = {
  readonly window: number;
  /** The rows' checkpoint, encoded. */
  readonly cursor: Uint8Array;
  readonly frames: number;
  readonly events: number;
};

/** A window that is being folded. */
type Window = {
  readonly number: number;
  readonly heads: ReadonlyMap<string, HeadState>;
  readonly checkpoint: Checkpoint;
  readonly folded: Promise<FoldedWindow | undefined>;
};

/** Gives the memory of bytes back at once: whoever reads them afterwards finds none. */
const freeBuffer = ({ buffer }: Uint8Array): void => {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
};

/** Counts the windows of a process: a late answer is never taken for another's. */
let windows = 0;

/**
 * Reads and checks a partition here, has threads fold what was accepted, and commits rows and checkpoint window by window, in
 * order. `irregular`: the next frames are to be folded by the projector: something about them is not as usual, or they
 * ended in an error.
 *
 * @throws E_CURSOR_MOVED, E_CURSOR_LOST, E_VERSION_NEEDED of a control event; E_INTERNAL if a thread ends
 */
export const runInWorkers = async (options: RunInWorkers): Promise<PartitionRunEnd> => {
  const { log, generation, workers, reader, partition, until, frames } = options;
  const windowSize = openWindowSize();
  const mostWindows = windowsFor(workers.count);
  const underWay: Window[] = [];
  /** Heads that are not in the rows yet. */
  const ahead = new Map<string, HeadState>();
  let { cursor } = options;

  const loadHeads = async (histories: readonly string[]): Promise<ReadonlyMap<string, HeadState>> => {
    const heads = new Map<string, HeadState>();
    const rest: string[] = [];
    for (const history of histories) {
      const known = ahead.get(history);
      if (known === undefined) rest.push(history);
      else heads.set(history, known);
    }
    if (rest.length === 0) return heads;
    const source = generation.source({ partition, cursor });
    const stored = await source.using(() => readHistoryHeads(source, rest));
    for (const [history, head] of stored) heads.set(history, head);
    return heads;
  };

  const commitOldest = async (): Promise<PartitionRunEnd> => {
    const window = underWay.shift() as Window;
    const folded = await window.folded;
    if (folded === undefined) return 'irregular';
    const { counts, changes, encoded } = folded;
    windowSize.folded(counts);
    await workers.opened;
    const next = encodeCheckpoint(window.checkpoint);
    await generation.commit({
      partition,
      expected: cursor,
      cursor: next,
      changes,
      encoded,
    });
    // The collector, which sees little of bytes, would leave megabytes lying around, and keep the rows of lists that grew old.
    changes.length = 0;
    for (const each of encoded) freeBuffer(each);
    cursor = next;
    await workers.committed(window.number);
    for (const [history, head] of window.heads) if (ahead.get(history) === head) ahead.delete(history);
    const stopped = await options.committed({
      window: window.number,
      cursor,
      frames: counts.frames,
      events: counts.events,
    });
    return stopped ? 'stopped' : 'ended';
  };

  const read = {
    checkpoint: options.checkpoint,
    reader,
    heads: { load: loadHeads },
    maxBytes: () => windowSize.bytes,
    maxRecords: () => frames,
    ...(until !== undefined && { until }),
  };
  let finished = false;
  try {
    for await (const { accepted, heads, checkpoint } of readPartition(log, read)) {
      for (const [history, head] of heads) ahead.set(history, head);
      const number = windows++;
      const most = workers.areOpen() ? mostWindows : 1;
      const folded = workers.fold({ window: number, accepted, heads });
      // Whoever waits for it hears of an error.
      folded.catch(() => undefined);
      underWay.push({ number, heads, checkpoint, folded });
      if (underWay.length < most) continue;
      const how = await commitOldest();
      if (how !== 'ended') return how;
    }
    while (underWay.length > 0) {
      const how = await commitOldest();
      if (how !== 'ended') return how;
    }
    finished = true;
    return 'ended';
  } finally {
    if (!finished) workers.reset();
  }
};
