import { isStemmaError, type StemmaError } from '@stemma/errors';
import { retryAttempts } from '@stemma/machine';

export type Retry = {
  /** What `work` gives, tried again for as long as what it needs is away. @throws what waiting does not help against */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** What is waited for just now, in a sentence. */
  waitingFor(): string | null;
};

/** Passwords, certificates and rights change while a process runs, and not at the same moment on both sides. */
const BROKERS_DENY: readonly string[] = ['E_BROKERS_LOGIN', 'E_BROKERS_UNTRUSTED', 'E_BROKERS_DENIED'];

/**
 * True if the database or the brokers refuse the user, or what the user does: an administrator can allow it again.
 * Settings that were always wrong are refused alike, so only one that has worked with them waits for this.
 */
export const isAccessDenied = (error: StemmaError): boolean =>
  BROKERS_DENY.includes(error.code) ||
  (error.code === 'E_DATABASE_REFUSED' && /^(?:28|3D|42501)/.test(String(error.detail['state'] ?? '')));

const PAUSES = { first: 100, longest: 10_000 };

/**
 * Waits with growing pauses while brokers, disks or contents are away, and says so once, and once when it goes on. After
 * the signal nothing is tried again. `more`: other errors that pass.
 */
export const openRetry = (
  signal: AbortSignal,
  say: (sentence: string) => void,
  isAlsoTransient: (error: StemmaError) => boolean = () => false,
): Retry => {
  let reason: string | null = null;
  return {
    waitingFor: () => reason,
    async run(work) {
      const done = await retryAttempts(work, {
        pauses: PAUSES,
        signal,
        onFailure: ({ error }) => {
          if (signal.aborted || !isStemmaError(error) || !(isTransient(error) || isAlsoTransient(error)))
            throw error;
          if (reason === null) say(`waiting: ${error.message} (${error.code})`);
          reason = error.message;
        },
      });
      if (reason !== null) say('reconnected');
      reason = null;
      return done;
    },
  };
};

/** A content that is not there can be put back. */
const isTransient = ({ code, row }: StemmaError): boolean =>
  row.retriable || code === 'E_CONTENT_MISSING' || code === 'E_CONTENT_DAMAGED';
