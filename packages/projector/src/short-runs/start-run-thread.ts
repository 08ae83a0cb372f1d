import { ContentRef } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { guardExit, isInside, keepOut, newExitGate } from '@stemma/machine';
import type { ContentSource, EventLog } from '@stemma/log';
import { endProcess } from '@stemma/machine';
import { Worker } from 'node:worker_threads';
import { oneByOne } from '../one-by-one.ts';
import type { Progress } from '../run-partition.ts';
import type {
  ThreadAnswer,
  FromThread,
  ThreadQuestion,
  ShortRun,
  RunThreadOptions,
  ToThread,
} from './messages.ts';
import { sentRecords } from './sent-log.ts';

/** A thread that folds runs and commits their rows. */
export type RunThread = {
  /** `opening` until it can fold; `ended` when it cannot any more. */
  readonly state: () => 'opening' | 'open' | 'ended';
  /** The offset of the rows then; null if the run is to be done by the caller. */
  readonly run: (run: ShortRun) => Promise<number | null>;
  /** Resolves when the thread has ended; a run that is under way stops after its next commit. */
  readonly close: () => Promise<void>;
};

export type RunThreadSources = {
  readonly log: EventLog;
  readonly contents: ContentSource;
  readonly committed: (progress: Progress) => void;
};

export const startRunThread = (
  options: Omit<RunThreadOptions, 'gate'>,
  sources: RunThreadSources,
): RunThread => {
  const gate = newExitGate();
  const worker = new Worker(new URL('./run-thread.ts', import.meta.url), {
    workerData: { ...options, gate } satisfies RunThreadOptions,
    resourceLimits: { maxYoungGenerationSizeMb: 32 },
  });
  const unguard = guardExit(gate);
  const loaded = Promise.withResolvers<undefined>();
  const opened = Promise.withResolvers<undefined>();
  const closed = Promise.withResolvers<undefined>();
  const ended = Promise.withResolvers<undefined>();
  const waiting = new Map<number, (offset: number | null) => void>();
  let state: ReturnType<RunThread['state']> = 'opening';
  /** It has opened rows, or is about to. */
  let touched = false;
  let runs = 0;

  const tell = (message: ToThread, moved: ArrayBuffer[] = []): void => worker.postMessage(message, moved);
  const lose = (): void => {
    state = 'ended';
    for (const resolve of waiting.values()) resolve(null);
    waiting.clear();
    loaded.reject(new Error('the thread has ended'));
    opened.resolve(undefined);
    closed.resolve(undefined);
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
        sources.committed(message.progress);
        break;
      case 'ran':
        waiting.get(message.id)?.(message.offset);
        waiting.delete(message.id);
        if (waiting.size === 0) worker.unref();
        break;
      case 'ask':
        void answer(message.question, sources).then((found) => {
          if (state !== 'ended') tell({ kind: 'answer', id: message.id, answer: found });
        });
        break;
      case 'closed':
        closed.resolve(undefined);
    }
  };
  worker.on('message', hear);
  worker.on('error', lose);
  worker.on('exit', () => {
    unguard();
    // It was killed in the middle of a transaction: nobody can write rows any more while this process lives.
    if (isInside(gate)) {
      process.stderr.write('stemma: a thread has ended while it wrote rows\n');
      endProcess(70);
    }
    lose();
    ended.resolve(undefined);
  });
  // Only a run keeps the process alive.
  worker.unref();
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
    run: (run) =>
      new Promise((resolve) => {
        if (state !== 'open') {
          resolve(null);
          return;
        }
        worker.ref();
        waiting.set(++runs, resolve);
        tell({ kind: 'run', id: runs, run }, [run.first.bytes.buffer as ArrayBuffer]);
      }),
    async close() {
      keepOut(gate);
      worker.ref();
      // While it loads it can be ended at any moment; LMDB must be closed first.
      if (touched) {
        await opened.promise;
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
  { log, contents }: RunThreadSources,
): Promise<ThreadAnswer> => {
  try {
    const { kind } = question;
    if (kind === 'content') {
      const bytes = await contents.get(new ContentRef(question.sha256, question.size));
      return { kind, bytes };
    }
    const { partition } = question;
    if (kind === 'bounds') return { kind, start: await log.start(partition), end: await log.end(partition) };
    const { from, maxBytes } = question;
    const epoch = log.epoch?.(partition) ?? 0;
    const batch = await log.read(partition, from, maxBytes === undefined ? {} : { maxBytes });
    return { kind, records: sentRecords(batch, from, epoch) };
  } catch (error) {
    const { code, message, detail } = isStemmaError(error)
      ? error
      : fail('E_INTERNAL', error instanceof Error ? error.message : String(error));
    return { kind: 'failed', failure: { code, message, detail } };
  }
};
