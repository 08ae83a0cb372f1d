import type { Readable, Writable } from 'node:stream';

/** What a process gives to the command line, so that a test can give it too. */
export type Surroundings = {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts with Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
};

/** A stream that may be a terminal. */
export type Terminal = Writable & { readonly isTTY?: boolean; readonly columns?: number };
