import type { openHome } from '@stemma/home';
import type { Readable, Writable } from 'node:stream';

/** What a process gives to the command line. A test gives its own. */
export type Surroundings = {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts with Ctrl-C or SIGTERM; the reason is the name of the signal. */
  readonly signal: AbortSignal;
  /** Opens a home for a command. Default: `openHome`; a test of many commands may give one that is open already. */
  readonly openHome?: typeof openHome;
};

/** A stream that may be a terminal. */
export type Terminal = Writable & { readonly isTTY?: boolean; readonly columns?: number };
