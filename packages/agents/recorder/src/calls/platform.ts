import type { Spool, SpoolOptions } from '../spool/spool.ts';

/** An answer of a gateway. */
export type PostAnswer = { readonly status: number; readonly text: string };

/** What recording needs of where it runs. */
export type CallPlatform = {
  readonly env: (name: string) => string | undefined;
  /** A path from the root. */
  readonly absolute: (path: string) => string;
  /** The folder of all spools of the user; undefined: there is no disk. */
  readonly spoolFolder: () => string | undefined;
  /** The folder in it for one target. */
  readonly folderOf: (folder: string, target: string) => string;
  /** @throws if the folder cannot be written */
  readonly openSpool: (options: SpoolOptions) => Spool;
  /** Sends JSON. The process may end meanwhile. @throws if there is no answer in time */
  readonly post: (url: string, json: string, timeout: number) => Promise<PostAnswer>;
  /** Calls `act` when the process has nothing else to do and is about to end, again after it did something. @returns takes it back */
  readonly onIdle: (act: () => void) => () => void;
  /** Calls `act` as the process ends. @returns as `onIdle` */
  readonly onExit: (act: () => void) => () => void;
  /** Calls `act` after what is to be written now was written. */
  readonly soon: (act: () => void) => void;
  /** A timer that keeps no process from ending. */
  readonly later: (milliseconds: number, act: () => void) => () => void;
  readonly say: (sentence: string) => void;
};
