import { isStemmaError, type StemmaError } from '@stemma/errors';
import { setTimeout as sleep } from 'node:timers/promises';

export type Patience = {
  /** What `work` gives, tried again for as long as what it needs is away. @throws what waiting does not help against */
  trying<T>(work: () => Promise<T>): Promise<T>;
  /** What is waited for just now, in a sentence. */
  waitsFor(): string | null;
};

const FIRST = 100;
const LONGEST = 10_000;

/**
 * Waits with growing pauses while brokers, disks or contents are away, and says so once, and once when it goes on. After
 * the signal nothing is tried again. `more`: other errors that pass.
 */
export const openPatience = (
  signal: AbortSignal,
  say: (sentence: string) => void,
  more: (error: StemmaError) => boolean = () => false,
): Patience => {
  let reason: string | null = null;
  return {
    waitsFor: () => reason,
    async trying(work) {
      for (let pause = FIRST; ; pause = Math.min(pause * 2, LONGEST)) {
        try {
          const done = await work();
          if (reason !== null) say('it is back: going on');
          reason = null;
          return done;
        } catch (error) {
          if (signal.aborted || !isStemmaError(error) || !(passes(error) || more(error))) throw error;
          if (reason === null) say(`waiting: ${error.message} (${error.code})`);
          reason = error.message;
          await sleep(pause, undefined, { signal });
        }
      }
    },
  };
};

/** A content that is not there can be put back. */
const passes = ({ code, row }: StemmaError): boolean =>
  row.retriable || code === 'E_CONTENT_MISSING' || code === 'E_CONTENT_DAMAGED';
