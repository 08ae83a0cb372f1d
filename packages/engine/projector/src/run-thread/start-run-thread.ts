import { ContentRef } from '@stemma/canonical';
import { fail, fromWireError, toWireError } from '@stemma/errors';
import { endProcess, guardExit, isInside, keepOut, newExitGate } from '@stemma/machine';
import { openRecord, type ContentSource, type EventLog, type LogRecord } from '@stemma/log';
import { Worker } from 'node:worker_threads';
import { LONG_RUN_LIMITS, SHORT_RUN_LIMITS } from '../run-limits.ts';
import { oneByOne } from '../one-by-one.ts';
import type { Progress } from '../run-partition.ts';
import type { Committed, LongRun, PartitionRunEnd } from '../workers/run-in-workers.ts';
import type {
  FromThread,
  RunThreadOptions,
  ShortRun,
  ThreadAnswer,
  ThreadQuestion,
  DescribedHistory,
  ToThread,
} from './messages.ts';
import type { SealedParts } from './sealed-parts.ts';
import { sentRecords } from './sent-log.ts';

/** A thread that folds runs and commits their rows. */
export type RunThread = {
  /** `opening` until it can fold; `ended` when it cannot any more. */
  readonly state: () => 'opening' | 'open' | 'ended';
  /** Resolves when it can fold. @throws E_INTERNAL if it ends before */
  readonly opened: Promise<unknown>;
  /** The offset of the rows then; null if the run is to be done by the caller. */
  readonly run: (run: ShortRun) => Promise<number | null>;
  /** Once it is open. @throws what `runInWorkers` throws, and E_INTERNAL if it ends */
  readonly runLong: (run: LongRun) => Promise<PartitionRunEnd>;
  /** Resolves when the thread has ended; a run that is under way stops after its next commit. */
  readonly close: () => Promise<void>;
};

export type RunThreadSources = {
  readonly log: EventLog;
  readonly contents: ContentSource;
  /** Told of each commit of a short run. */
  readonly committed?: (progress: Progress) => void;
  /** Where the thread folds long runs. */
  readonly long?: LongRunSources;
};

export type LongRunSources = {
  /** What the thread must know of a history, if anything. */
  readonly describe: (history: string) => DescribedHistory | undefined;
  readonly sealed: SealedParts;
  /** Called after each commit: true stops the run there. What it throws ends it. */
  readonly committed: (commit: Committed) => Promise<boolean>;
};

export const startRunThread = (
  options: Omit<RunThreadOptions, 'gate'>,
  sources: RunThreadSources,
): RunThread => {
  const isLong = options.foldThreads > 0;
  const gate = newExitGate();
  const worker = new Worker(new URL('./run-thread.ts', import.meta.url), {
    workerData: { ...options, gate } satisfies RunThreadOptions,
    resourceLimits: isLong ? LONG_RUN_LIMITS : SHORT_RUN_LIMITS,
  });
  const unguard = guardExit(gate);
  const loaded = Promise.withResolvers<undefined>();
  const opened = Promise.withResolvers<undefined>();
  const closed = Promise.withResolvers<undefined>();
  const ended = Promise.withResolvers<undefined>();
  const waiting = new Map<number, (offset: number | null) => void>();
  const longRuns = new Map<number, PromiseWithResolvers<PartitionRunEnd>>();
  let state: ReturnType<RunThread['state']> = 'opening';
  /** It has opened rows, or is about to. */
  let touched = false;
  let runs = 0;

  const tell = (message: ToThread, moved: ArrayBuffer[] = []): void => worker.postMessage(message, moved);
  const lose = (why: string): void => {
    const gone = fail('E_INTERNAL', `a thread that folds has ended: ${why}`);
    state = 'ended';
    for (const resolve of waiting.values()) resolve(null);
    waiting.clear();
    for (const { reject } of longRuns.values()) reject(gone);
    longRuns.clear();
    loaded.reject(gone);
    opened.reject(gone);
    closed.resolve(undefined);
  };
  const { long } = sources;
  /** Only a run keeps the process alive, and who waits for a thread for long ones. */
  const rest = (): void => {
    if (!isLong && waiting.size === 0) worker.unref();
  };
  const hear = (message: FromThread): void => {
    switch (message.kind) {
      case 'loaded':
        loaded.resolve(undefined);
        break;
      case 'opened':
        if (state === 'opening') state = 'open';
        opened.resolve(undefined);
        break;
      case 'committed':
        sources.committed?.(message.progress);
        break;
      case 'ran':
        waiting.get(message.id)?.(message.offset);
        waiting.delete(message.id);
        rest();
        break;
      case 'ranLong':
        if (typeof message.end === 'string') longRuns.get(message.id)?.resolve(message.end);
        else longRuns.get(message.id)?.reject(fromWireError(message.end));
        longRuns.delete(message.id);
        break;
      case 'reset':
        long?.sealed.reset();
        break;
      case 'ask':
        void answer(message.question, sources).then((found) => {
          if (state !== 'ended') tell({ kind: 'answer', id: message.id, answer: found }, movedIn(found));
        });
        break;
      case 'closed':
        closed.resolve(undefined);
    }
  };
  worker.on('message', hear);
  worker.on('error', (error: unknown) => lose(error instanceof Error ? error.message : String(error)));
  worker.on('exit', (code) => {
    unguard();
    // It was killed in the middle of a transaction: nobody can write rows any more while this process lives.
    if (isInside(gate)) {
      process.stderr.write('stemma: a thread has ended while it wrote rows\n');
      endProcess(70);
    }
    lose(`exit code ${code}`);
    ended.resolve(undefined);
  });
  rest();
  // Somebody may be waiting for neither.
  loaded.promise.catch(() => undefined);
  opened.promise.catch(() => undefined);
  void loaded.promise
    .then(() =>
      oneByOne(() => {
        if (state === 'opening') {
          touched = true;
          tell({ kind: 'open' });
        }
        return opened.promise;
      }),
    )
    .catch(() => undefined);

  return {
    state: () => state,
    opened: opened.promise,
    run: (run) =>
      new Promise((resolve) => {
        if (state !== 'open') {
          resolve(null);
          return;
        }
        worker.ref();
        waiting.set(++runs, resolve);
        tell({ kind: 'run', id: runs, run }, [run.first.bytes.buffer, run.first.heads.buffer]);
      }),
    async runLong(run) {
      await opened.promise;
      const ran = Promise.withResolvers<PartitionRunEnd>();
      longRuns.set(++runs, ran);
      tell({ kind: 'long', id: runs, run });
      return ran.promise;
    },
    async close() {
      keepOut(gate);
      worker.ref();
      // While it loads it can be ended at any moment; LMDB must be closed first.
      if (touched) {
        await opened.promise.catch(() => undefined);
        if (state !== 'ended') tell({ kind: 'close' });
        await closed.promise;
      }
      state = 'ended';
      await worker.terminate();
      await ended.promise;
    },
  };
};

const answer = async (
  question: ThreadQuestion,
  { log, contents, long }: RunThreadSources,
): Promise<ThreadAnswer> => {
  try {
    switch (question.kind) {
      case 'content': {
        const bytes = await contents.get(new ContentRef(question.sha256, question.size));
        return { kind: 'content', bytes };
      }
      case 'bounds': {
        const { partition } = question;
        return { kind: 'bounds', start: await log.start(partition), end: await log.end(partition) };
      }
      case 'records': {
        const { partition, from, maxBytes } = question;
        const epoch = log.epoch?.(partition) ?? 0;
        const batch = await log.read(partition, from, maxBytes === undefined ? {} : { maxBytes });
        const described = long === undefined ? [] : describedIn(batch.records, long);
        return { kind: 'records', records: sentRecords(batch, from, epoch, described) };
      }
      case 'sealed':
        return { kind: 'sealed', folded: (await long?.sealed.fold(question.part)) ?? null };
      case 'committed':
        return { kind: 'committed', stop: (await long?.committed(question.commit)) ?? false };
    }
  } catch (error) {
    return { kind: 'failed', failure: toWireError(error) };
  }
};

const describedIn = (
  records: readonly LogRecord[],
  { describe }: LongRunSources,
): readonly DescribedHistory[] => {
  const histories = new Set(records.map(({ key, bytes }) => key ?? openRecord(bytes)?.envelope.history));
  return [...histories].flatMap((history) => (history === undefined ? [] : (describe(history) ?? [])));
};

/** What of an answer is not copied. */
const movedIn = (found: ThreadAnswer): ArrayBuffer[] => {
  if (found.kind === 'records') return [found.records.bytes.buffer, found.records.heads.buffer];
  return found.kind === 'sealed' && found.folded !== null ? [found.folded.encoded.buffer as ArrayBuffer] : [];
};
