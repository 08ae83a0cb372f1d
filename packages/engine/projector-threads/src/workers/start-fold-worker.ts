import { ContentRef } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { ContentSource, EventLog } from '@stemma/log';
import { Worker } from 'node:worker_threads';
import { LONG_RUN_LIMITS } from '../run-limits.ts';
import { openThreadLife } from '../thread-life.ts';
import type { FoldAnswer, FoldWorkerOptions, FromWorker, FoldQuestion, ToWorker } from './messages.ts';
import type { FoldedPart, FramePart } from './part-folder.ts';
import { sentPart } from './sent-part.ts';

/** A thread that folds. */
export type FoldWorker = {
  /** Resolves when it is ready to fold. @throws E_INTERNAL if it ends before */
  readonly opened: Promise<unknown>;
  /** What the thread folds from a part; undefined if that is to be folded here. @throws E_INTERNAL if the thread ends */
  fold(part: FramePart): Promise<FoldedPart | undefined>;
  committed(window: number): void;
  /** Forgets what is not committed. What was asked for before resolves to undefined. */
  reset(): void;
  /** Resolves when the thread has ended; nothing is folded any more. */
  close(): Promise<void>;
};

export type FoldWorkerSources = {
  readonly log: Pick<EventLog, 'read'>;
  readonly contents: ContentSource;
};

type Waiting = {
  readonly resolve: (part: FoldedPart | undefined) => void;
  readonly reject: (error: unknown) => void;
};

export const startFoldWorker = (options: FoldWorkerOptions, sources: FoldWorkerSources): FoldWorker => {
  const worker = new Worker(new URL('./fold-worker.ts', import.meta.url), {
    workerData: options,
    resourceLimits: LONG_RUN_LIMITS,
  });
  const waiting = new Map<number, Waiting>();
  let gone: Error | undefined;
  let run = 0;

  const tell = (message: ToWorker, moved: ArrayBuffer[] = []): void => worker.postMessage(message, moved);
  const life = openThreadLife(worker, tell, () => gone !== undefined);
  const lose = (why: string): void => {
    gone ??= fail('E_INTERNAL', `a thread that folds has ended: ${why}`);
    for (const { reject } of waiting.values()) reject(gone);
    waiting.clear();
    life.lose(gone);
  };
  const hear = (message: FromWorker): void => {
    switch (message.kind) {
      case 'loaded':
      case 'opened':
      case 'closed':
        life.hear(message.kind);
        break;
      case 'folded':
        if (message.run === run) settle(message.window, message);
        break;
      case 'refused':
        if (message.run === run) settle(message.window, undefined);
        break;
      case 'ask':
        void answer(message.question, sources).then((found) =>
          tell({ kind: 'answer', id: message.id, answer: found }),
        );
    }
  };
  const settle = (window: number, part: FoldedPart | undefined): void => {
    waiting.get(window)?.resolve(part);
    waiting.delete(window);
  };
  worker.on('message', hear);
  worker.on('error', (error: unknown) => lose(error instanceof Error ? error.message : String(error)));
  worker.on('exit', (code) => {
    lose(`exit code ${code}`);
    life.exited();
  });

  return {
    opened: life.opened,
    fold: (part) =>
      new Promise((resolve, reject) => {
        if (gone !== undefined) {
          reject(gone);
          return;
        }
        waiting.set(part.window, { resolve, reject });
        const sent = sentPart(part);
        tell({ kind: 'fold', run, part: sent }, [sent.bytes.buffer]);
      }),
    committed: (window) => tell({ kind: 'committed', window }),
    reset() {
      run++;
      tell({ kind: 'reset', run });
      for (const { resolve } of waiting.values()) resolve(undefined);
      waiting.clear();
    },
    async close() {
      await life.closeRows();
      gone ??= fail('E_INTERNAL', 'the threads that fold are closed');
      await life.end();
    },
  };
};

const answer = async (question: FoldQuestion, { log, contents }: FoldWorkerSources): Promise<FoldAnswer> => {
  try {
    if (question.kind === 'content')
      return found(await contents.get(new ContentRef(question.sha256, question.size)), 0);
    const { partition, offset } = question;
    const [record] = (await log.read(partition, offset, { maxBytes: 1 })).records;
    if (record === undefined || record.damaged) return { bytes: null, next: 0, reason: 'it cannot be read' };
    return found(record.bytes, record.next);
  } catch (error) {
    return { bytes: null, next: 0, reason: error instanceof Error ? error.message : String(error) };
  }
};

/** Copied: the bytes may be a view of many. */
const found = (bytes: Uint8Array, next: number): FoldAnswer => ({
  bytes: Uint8Array.from(bytes),
  next,
  reason: '',
});
