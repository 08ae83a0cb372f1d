import type { ContentRef } from '@stemma/canonical';
import { fail, fromWireError, toWireError, type WireError } from '@stemma/errors';
import { collectGarbage, collectWhenIdle, enterGate, isLeaving, leaveGate } from '@stemma/machine';
import { openRevalidatingReader, type ContentSource, type RevalidatingReader } from '@stemma/log';
import {
  clearCaches,
  countedAmong,
  decodeCheckpoint,
  type FoldContext,
  framesInRows,
  openBranchCache,
  openPayloads,
  runPartition,
} from '@stemma/projector';
import type { LmdbGenerationAtAddress } from '@stemma/row-store-lmdb';
import { parentPort, workerData } from 'node:worker_threads';
import { receivedModels } from '../sent-models.ts';
import { startFoldWorkers, type FoldWorkers } from '../workers/fold-workers.ts';
import { runInWorkers, type LongRun, type PartitionRunEnd } from '../workers/run-in-workers.ts';
import { sentPart } from '../workers/sent-part.ts';
import type {
  FromThread,
  RunThreadOptions,
  SentRecords,
  ShortRun,
  ThreadAnswer,
  ThreadQuestion,
  ToThread,
} from './messages.ts';
import { openSentLog } from './sent-log.ts';

/*
 * A thread that commits rows: it folds short runs itself, and has threads of its own that fold long ones with it. It has the log and
 * contents read for it. Whatever is not as usual it leaves to the projector that started it.
 */
const port = parentPort;
if (!port) throw new Error('this runs in a thread');
const options = workerData as RunThreadOptions;
const { keepFrames, limits, gate } = options;
const tell = (message: FromThread, moved: ArrayBuffer[] = []): void => port.postMessage(message, moved);

const asked = new Map<number, (answer: ThreadAnswer) => void>();
let questions = 0;
const ask = async <K extends ThreadQuestion['kind']>(
  question: Extract<ThreadQuestion, { kind: K }>,
  moved: ArrayBuffer[] = [],
): Promise<Extract<ThreadAnswer, { kind: K }>> => {
  const answer = await new Promise<ThreadAnswer>((resolve) => {
    asked.set(++questions, resolve);
    tell({ kind: 'ask', id: questions, question }, moved);
  });
  if (answer.kind !== 'failed') return answer as Extract<ThreadAnswer, { kind: K }>;
  throw fromWireError(answer.failure);
};

/** Of histories that are sealed, or for which more is folded. */
const described = new Map<string, SentRecords['described'][number]>();
const leave = (): never => {
  throw fail('E_INTERNAL', 'this is left to who has the keys');
};
const contents: ContentSource = {
  get: async ({ sha256, size }: ContentRef) => (await ask({ kind: 'content', sha256, size })).bytes,
  // Sealed frames are not opened here; should one be met all the same, it is no defect.
  sealer: {
    seals: (history) => described.get(history)?.sealed === true,
    canOpen: () => false,
    seal: leave,
    open: leave,
    destroy: leave,
  },
};

/** Runs while the process does not end; LMDB would keep the lock of a thread that ended inside. */
const inside = <T>(fn: () => T): T => {
  if (!enterGate(gate)) throw fail('E_CANCELLED', 'the process is ending');
  try {
    return fn();
  } finally {
    leaveGate(gate);
  }
};

const { all, models, onDemand, tables } = receivedModels(options);
const log = openSentLog(options.log, {
  records: async (partition, from, maxBytes) => {
    const { records } = await ask({ kind: 'records', partition, from, maxBytes });
    for (const each of records.described) described.set(each.history, each);
    return records;
  },
  bounds: (partition) => ask({ kind: 'bounds', partition }),
});

let opened: LmdbGenerationAtAddress;
/** What short runs are folded with. */
let context: FoldContext;
/** The threads that fold long runs, this one among them; in such a thread there are no short runs. */
let workers: FoldWorkers | undefined;
const readers = new Map<number, RevalidatingReader>();

const open = async (): Promise<void> => {
  // Not before: a thread that is ended while it loads native code takes the process with it.
  const { openLmdbGenerationAtAddress } = await import('@stemma/row-store-lmdb');
  opened = openLmdbGenerationAtAddress(options.rows, tables, inside);
};

const openContext = (treeBytes: number, frameBytes?: number): FoldContext => {
  const { generation } = opened;
  return {
    models,
    onDemand,
    eager: (history, model) => described.get(history)?.eager.includes(model) === true,
    isCounted: countedAmong(all),
    contents,
    decoded: undefined,
    branchCache: openBranchCache(treeBytes),
    payloads: openPayloads({
      log,
      contents,
      ...framesInRows((fn) => generation.read(fn), keepFrames),
      ...(frameBytes !== undefined && { maxBytes: frameBytes }),
    }),
    keepFrames,
    pause: () => undefined,
  };
};

const readerOf = (partition: number): RevalidatingReader => {
  const known = readers.get(partition) ?? openRevalidatingReader(log, partition);
  readers.set(partition, known);
  return known;
};

const fold = async ({ partition, until, first }: ShortRun): Promise<number | null> => {
  try {
    log.begin(partition, first);
    const progress = await runPartition({
      log,
      generation: opened.generation,
      context,
      partition,
      trustKnown: false,
      reader: readerOf(partition),
      limits,
      until,
      committed: (at) => tell({ kind: 'committed', progress: at }),
      stop: () => isLeaving(gate),
      now: () => performance.now(),
    });
    return progress.offset;
  } catch {
    clearCaches(context);
    return null;
  }
};

/** For long runs this thread has others that fold with it. */
const prepare = (): void => {
  if (options.foldThreads === 0) {
    context = openContext(options.cacheBytes);
    return;
  }
  const { generation } = opened;
  workers = startFoldWorkers({
    count: options.foldThreads,
    rows: options.rows,
    log,
    generation,
    context: ({ treeBytes, frameBytes }) => openContext(treeBytes, frameBytes),
    contents,
    sealed: {
      fold: async (part) => {
        const sent = sentPart(part);
        return (await ask({ kind: 'sealed', part: sent }, [sent.bytes.buffer])).folded ?? undefined;
      },
      reset: () => tell({ kind: 'reset' }),
    },
    cacheBytes: options.cacheBytes,
    models: options,
  });
};

const foldLong = async ({
  partition,
  cursor,
  until,
  frames,
}: LongRun): Promise<PartitionRunEnd | WireError> => {
  try {
    return await runInWorkers({
      log,
      generation: opened.generation,
      workers: workers as FoldWorkers,
      reader: readerOf(partition),
      partition,
      checkpoint: decodeCheckpoint(cursor),
      cursor,
      ...(until !== undefined && { until }),
      ...(frames !== undefined && { frames }),
      committed: async (commit) => (await ask({ kind: 'committed', commit })).stop || isLeaving(gate),
    });
  } catch (error) {
    return toWireError(error);
  }
};

let folding: Promise<void> = Promise.resolve();
/** Between runs: branches that nobody folded for so long are finished. */
const noteWork = collectWhenIdle({
  collect: () => {
    folding = folding.then(() => {
      clearCaches(context);
      collectGarbage();
    });
  },
});
port.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'open':
      if (!enterGate(gate)) return;
      void open()
        .finally(() => leaveGate(gate))
        .then(prepare)
        .then(() => tell({ kind: 'opened' }));
      break;
    case 'run':
      noteWork();
      folding = folding.then(async () =>
        tell({ kind: 'ran', id: message.id, offset: await fold(message.run) }),
      );
      break;
    case 'long':
      folding = folding.then(async () =>
        tell({ kind: 'ranLong', id: message.id, end: await foldLong(message.run) }),
      );
      break;
    case 'answer':
      asked.get(message.id)?.(message.answer);
      asked.delete(message.id);
      break;
    case 'close':
      // Ending a thread while LMDB closes kills the process: it is ended when it has said this.
      void folding
        .then(() => workers?.close())
        .then(() => opened.close())
        .then(() => tell({ kind: 'closed' }));
  }
});
tell({ kind: 'loaded' });
