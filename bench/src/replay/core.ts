import type { Frame } from '@stemma/events';
import { applyFrame, openHistory, type HistoryState, type Sources } from '@stemma/history';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { decodeLog } from './decode.ts';
import type { Replayed } from './rebuild.ts';

type Part = { readonly directory: string; readonly part: number; readonly of: number };

/** Sessions under way at once are far fewer, so that none that was dropped comes back. */
const HISTORIES_KEPT = 256;

const notInMemory = (): never => {
  throw new Error('a session goes back to what is no longer in memory');
};
const sources: Sources = { payload: notInMemory, position: notInMemory, branchTip: notInMemory };

const partOf = (history: string, parts: number): number =>
  Number.parseInt(history.replaceAll(/\D/g, '') || '0', 10) % parts;

/** Applies every frame of one part of the histories in memory, each recorded hash compared with one computed anew. */
const applyPart = async ({ directory, part, of }: Part): Promise<number> => {
  const states = new Map<string, HistoryState>();
  let events = 0;
  const isMine = (history: string): boolean => partOf(history, of) === part;
  for await (const frame of decodeLog(directory, isMine)) {
    events += frame.body.events.length;
    applyNext(states, frame);
  }
  return events;
};

const applyNext = (states: Map<string, HistoryState>, frame: Frame): void => {
  const { history } = frame.envelope;
  const state = states.get(history) ?? openHistory(history, 0);
  applyFrame(state, frame, sources);
  states.delete(history);
  states.set(history, state);
  if (states.size > HISTORIES_KEPT) states.delete(states.keys().next().value!);
};

const inThread = (part: Part): Promise<number> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: part });
    worker.on('message', resolve).on('error', reject);
  });

/** Decodes the log and applies all events to trees in `threads` threads; no row is made. */
export const applyAlone = async (input: {
  readonly directory: string;
  readonly threads: number;
}): Promise<Replayed> => {
  const started = performance.now();
  const parts = Array.from({ length: input.threads }, (_, part) =>
    inThread({ directory: input.directory, part, of: input.threads }),
  );
  const events = (await Promise.all(parts)).reduce((sum, one) => sum + one, 0);
  return { events, seconds: (performance.now() - started) / 1_000 };
};

if (!isMainThread) parentPort!.postMessage(await applyPart(workerData as Part));
