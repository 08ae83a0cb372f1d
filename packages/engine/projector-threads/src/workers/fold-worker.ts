import type { ContentRef } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { EventLog } from '@stemma/log';
import { countedAmong, openBranchCache, openPayloads } from '@stemma/projector';
import type { LmdbRowsAtAddress } from '@stemma/row-store-lmdb';
import { parentPort, workerData } from 'node:worker_threads';
import { receivedModels } from '../sent-models.ts';
import type { FoldAnswer, FoldWorkerOptions, FromWorker, FoldQuestion, ToWorker } from './messages.ts';
import { encodedPart, openPartFolder, type PartFolder } from './part-folder.ts';
import { receivedPart, type SentPart } from './sent-part.ts';

/*
 * A thread that folds: frames of some histories come in, rows go out as bytes. It reads committed rows itself, and has the
 * log and contents read for it. It writes nothing.
 */
const port = parentPort;
if (!port) throw new Error('this runs in a thread');
const options = workerData as FoldWorkerOptions;
const tell = (message: FromWorker, moved: ArrayBuffer[] = []): void => port.postMessage(message, moved);

const asked = new Map<number, (answer: FoldAnswer) => void>();
let questions = 0;
const ask = (question: FoldQuestion): Promise<FoldAnswer> =>
  new Promise((resolve) => {
    asked.set(++questions, resolve);
    tell({ kind: 'ask', id: questions, question });
  });

const readRecord = async (partition: number, offset: number): ReturnType<EventLog['read']> => {
  const { bytes, next, reason } = await ask({ kind: 'record', partition, offset });
  if (bytes === null) throw fail('E_IO', reason);
  const record = { offset, next, key: null, bytes, keyVouched: false, damaged: false };
  return { records: [record], next };
};

const contents = {
  get: async ({ sha256, size }: ContentRef): Promise<Uint8Array> => {
    const { bytes, reason } = await ask({ kind: 'content', sha256, size });
    if (bytes === null) throw fail('E_CONTENT_MISSING', reason);
    return bytes;
  },
};

const { all, models, onDemand, tables: known } = receivedModels(options);
/** In the order of whoever commits: encoded changes name tables by their place. */
const tables = options.tables.map((name) => {
  const table = known.find((each) => each.name === name);
  if (table === undefined) throw fail('E_INTERNAL', `no read model has the table ${name}`);
  return table;
});

let rows: LmdbRowsAtAddress;
let folder: PartFolder;
let run = 0;
let folding: Promise<void> = Promise.resolve();

const open = async (): Promise<void> => {
  // Not before: a thread that is ended while it loads native code takes the process with it.
  const { openLmdbRowsAtAddress } = await import('@stemma/row-store-lmdb');
  rows = openLmdbRowsAtAddress(options.rows, tables);
  folder = openPartFolder({
    context: {
      models,
      onDemand,
      isCounted: countedAmong(all),
      contents,
      decoded: undefined,
      branchCache: openBranchCache(options.treeBytes),
      payloads: openPayloads({
        log: { partitions: options.partitions, read: readRecord },
        contents,
        // A fold says itself where its frames are: some have no rows yet.
        frameAt: () => Promise.resolve(undefined),
        framesAt: () => Promise.resolve(new Map()),
        maxBytes: options.frameBytes,
      }),
      keepFrames: options.keepFrames,
      pause: () => undefined,
    },
    rows: () => rows.rows,
  });
};

const fold = async (of: number, part: SentPart): Promise<void> => {
  if (of !== run) return;
  const { window } = part;
  try {
    const folded = await folder.fold(receivedPart(part));
    if (of !== run) return;
    if (folded.counts.defects > 0) throw fail('E_HISTORY_DEFECTIVE', 'a history is defective');
    const { counts, encoded } = encodedPart(tables, folded);
    tell({ kind: 'folded', run: of, window, counts, encoded }, [encoded.buffer as ArrayBuffer]);
  } catch (error) {
    tell({
      kind: 'refused',
      run: of,
      window,
      reason: error instanceof Error ? error.message : String(error),
    });
  }
};

port.on('message', (message: ToWorker) => {
  switch (message.kind) {
    case 'open':
      void open().then(() => tell({ kind: 'opened' }));
      break;
    case 'fold':
      folding = folding.then(() => fold(message.run, message.part));
      break;
    case 'committed':
      rows.refresh();
      folder.committed(message.window);
      break;
    case 'reset':
      run = message.run;
      folding = folding.then(() => folder.reset());
      break;
    case 'answer':
      asked.get(message.id)?.(message.answer);
      asked.delete(message.id);
      break;
    case 'close':
      // Ending a thread while LMDB closes kills the process: it is ended when it has said this.
      void folding.then(() => rows.close()).then(() => tell({ kind: 'closed' }));
  }
});
tell({ kind: 'loaded' });
