/** An exchange that waits to be sent. */
export type WaitingExchange = {
  readonly id: string;
  readonly size: number;
  /** The request of the gateway's contract. @throws E_INPUT_SHAPE if its file is damaged */
  read(): string;
  /** It was recorded: it needs no more room. */
  remove(): void;
  /** It cannot be recorded now: it is kept, and sent again by the next process. */
  setAside(): void;
};

/** Exchanges on their way to where they are recorded. */
export type Spool = {
  /** Where they wait; null: in memory. */
  readonly directory: string | null;
  /** Notes that a call began: if the process ends before the call does, the next one sends this. @throws if it cannot be written */
  begin(id: string, json: string): void;
  /**
   * Keeps an exchange, before it returns. @returns undefined if there is no room @throws if it cannot be written
   */
  keep(id: string, json: string): WaitingExchange | undefined;
  /** Takes what processes that have ended left, the oldest first. */
  takeOver(): readonly WaitingExchange[];
  /** Bytes that wait. */
  bytes(): number;
  /** Leaves what waits to the next process. */
  close(): void;
};

export type SpoolOptions = {
  /** The folder of all spools of the target. */
  readonly directory: string;
  /** The most bytes that wait there. */
  readonly limit: number;
  /** Told of a file that is damaged. */
  readonly damaged: (file: string) => void;
};
