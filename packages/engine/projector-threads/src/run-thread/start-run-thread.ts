import { fail, fromWireError } from '@stemma/errors';
import { endProcess, guardExit, isInside, keepOut, newExitGate } from '@stemma/machine';
import { Worker } from 'node:worker_threads';
import { LONG_RUN_LIMITS, SHORT_RUN_LIMITS } from '../run-limits.ts';
import { openThreadLife } from '../thread-life.ts';
import type { LongRun, PartitionRunEnd } from '../workers/run-in-workers.ts';
import { answerThread, movedIn, type RunThreadSources } from './answer-thread.ts';
import type { FromThread, RunThreadOptions, ShortRun, ToThread } from './messages.ts';

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
  const waiting = new Map<number, (offset: number | null) => void>();
  const longRuns = new Map<number, PromiseWithResolvers<PartitionRunEnd>>();
  let state: ReturnType<RunThread['state']> = 'opening';
  let runs = 0;

  const tell = (message: ToThread, moved: ArrayBuffer[] = []): void => worker.postMessage(message, moved);
  const life = openThreadLife(worker, tell, () => state === 'ended');
  const lose = (why: string): void => {
    const gone = fail('E_INTERNAL', `a thread that folds has ended: ${why}`);
    state = 'ended';
    for (const resolve of waiting.values()) resolve(null);
    waiting.clear();
    for (const { reject } of longRuns.values()) reject(gone);
    longRuns.clear();
    life.lose(gone);
  };
  const { long } = sources;
  /** Only a run keeps the process alive, and who waits for a thread for long ones. */
  const rest = (): void => {
    if (!isLong && waiting.size === 0) worker.unref();
  };
  const hear = (message: FromThread): void => {
    switch (message.kind) {
      case 'loaded':
      case 'opened':
      case 'closed':
        if (message.kind === 'opened' && state === 'opening') state = 'open';
        life.hear(message.kind);
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
        void answerThread(message.question, sources).then((found) => {
          if (state !== 'ended') tell({ kind: 'answer', id: message.id, answer: found }, movedIn(found));
        });
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
    life.exited();
  });
  rest();

  return {
    state: () => state,
    opened: life.opened,
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
      await life.opened;
      const ran = Promise.withResolvers<PartitionRunEnd>();
      longRuns.set(++runs, ran);
      tell({ kind: 'long', id: runs, run });
      return ran.promise;
    },
    async close() {
      keepOut(gate);
      worker.ref();
      await life.closeRows();
      state = 'ended';
      await life.end();
    },
  };
};
