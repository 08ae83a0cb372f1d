import type { CallRecorder } from './call-recorder.ts';
import { openCallRecorder } from './open-call-recorder.ts';
import type { CallRecorderOptions } from './options.ts';
import type { CallRecorderStatus } from './status.ts';

/** The recorders of this process: who records alike shares one. */
const recorders = new Map<string, CallRecorder>();

/** The recorder with these options; it is opened when it is first asked for. */
export const sharedRecorder = (options: CallRecorderOptions): CallRecorder => {
  const { url, home, recorder, redact, directory, limit, exitTimeout } = options;
  const key = JSON.stringify([url, home, recorder, redact, directory, limit, exitTimeout]);
  const known = recorders.get(key) ?? openCallRecorder(options);
  recorders.set(key, known);
  return known;
};

/** Resolves when every call is recorded, or when the time (5,000 ms) is over: then false. Rejects never. */
export const flush = async (options?: { readonly timeout?: number }): Promise<boolean> =>
  (await Promise.all([...recorders.values()].map((one) => one.flush(options)))).every(Boolean);

/** As `flush`; what is recorded afterwards opens recorders of its own. What waits is sent by the next process. */
export const close = async (options?: { readonly timeout?: number }): Promise<boolean> => {
  const open = [...recorders.values()];
  recorders.clear();
  return (await Promise.all(open.map((one) => one.close(options)))).every(Boolean);
};

/** What the recorders of this process did. */
export const status = (): CallRecorderStatus => {
  const all = [...recorders.values()].map((one) => one.status());
  const sum = (what: 'waiting' | 'recorded' | 'dropped' | 'refused'): number =>
    all.reduce((total, one) => total + one[what], 0);
  return {
    waiting: sum('waiting'),
    recorded: sum('recorded'),
    dropped: sum('dropped'),
    refused: sum('refused'),
    lastError: all.find(({ lastError }) => lastError !== null)?.lastError ?? null,
    directory: all[0]?.directory ?? null,
  };
};
