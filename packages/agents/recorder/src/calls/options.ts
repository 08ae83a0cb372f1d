import type { ApiFetch } from '@stemma/api';
import type { RedactorOptions } from '@stemma/redaction';

/** Where calls are recorded, and how. What is not given is taken from the environment. */
export type CallRecorderOptions = {
  /** The address of a gateway; STEMMA_URL. */
  readonly url?: string;
  /** Instead of it the directory of a home that this process opens. */
  readonly home?: string;
  /** Who records: the name of the agent (`recorder`). */
  readonly recorder?: string;
  /** Rules by which secrets are taken out before anything is written or sent; those of the gateway come besides. */
  readonly redact?: Omit<RedactorOptions, 'function' | 'fields'>;
  /** The folder where calls wait; STEMMA_SPOOL, else below the user's state directory. */
  readonly directory?: string;
  /** The most bytes that wait there (256 MiB). */
  readonly limit?: number;
  /** Milliseconds that a process which is about to end waits for a gateway that answers (2,000); 0: it does not. */
  readonly exitTimeout?: number;
  /** Told once of each thing that goes wrong; by default standard error is. */
  readonly warn?: (sentence: string) => void;
};

/** To which conversation calls belong; by default it is found among all calls (calls §3). */
export type CallScopeOptions = {
  /** A history by name, or its branch: `NAME:BRANCH`; STEMMA_HISTORY. */
  readonly history?: string;
  /** A run of a program, among whose calls it is found; STEMMA_RUN. */
  readonly run?: string;
};

/** Milliseconds. What waits is tried again after `first`, later after up to `longest`. */
export type SendTimes = { readonly first: number; readonly longest: number; readonly answer: number };

/** For tests. */
export type InnerOptions = { readonly times?: Partial<SendTimes>; readonly fetch?: ApiFetch };
