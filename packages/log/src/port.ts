/** What is appended: a record's bytes (a frame and its SHA-256) under the id of its history. */
export type Entry = { readonly key: string; readonly bytes: Uint8Array };

/** Where an appended record lies: its own offset and that of the record behind it. Offsets rise, with gaps. */
export type EntryOffset = { readonly offset: number; readonly next: number };

/** A record as it lies in a partition. Its bytes may be a view of a larger buffer: copy what is kept. */
export type LogRecord = EntryOffset & {
  /** The history it was appended under; null where the log cannot read it any more. */
  readonly key: string | null;
  readonly bytes: Uint8Array;
  /** True where the log itself knows that what lies here is not what was appended, even if `bytes` look right. */
  readonly damaged: boolean;
};

/** Records in order, and the offset to read on from: behind the last one, or the end. */
export type ReadBatch = { readonly records: readonly LogRecord[]; readonly next: number };

export type ReadOptions = {
  /** About how much to read at once; one record is given even if it is larger. Default 1 MiB. */
  readonly maxBytes?: number;
};

/**
 * A log of records in partitions, each with one order. It keeps what it acknowledged, and it may do worse things than
 * that: lose an acknowledgement, store a record twice, or reorder a batch; readers bear it (record §2).
 */
export type EventLog = {
  /** Given when the log was made, the same for ever (record §5). */
  readonly id: string;
  readonly partitions: number;
  /** True if nothing acknowledged can go: the writer may then trust offsets (record §3). */
  readonly keepsItsEnd: boolean;

  /**
   * Appends in order; resolves when all are durable, with their places. When it rejects, the outcome is unknown,
   * unless the code is E_LOG_BUSY or E_LOG_CLOSED or its detail says `written: false`: then nothing was.
   */
  append(partition: number, entries: readonly Entry[]): Promise<readonly EntryOffset[]>;

  /**
   * The records from an offset on that some record, or the end, begins at. Empty at the end.
   *
   * @throws E_CURSOR_LOST if no record begins there, or the log does not reach that far.
   */
  read(partition: number, from: number, options?: ReadOptions): Promise<ReadBatch>;

  /** The offset behind the last durable record. */
  end(partition: number): Promise<number>;

  /** The offset of the first record there is: 0 unless the log was cut. */
  start(partition: number): Promise<number>;

  /**
   * Changes whenever a connection was lost or made anew, or a partition may have another leader: whoever goes on from a
   * cursor checks it again before he trusts what he is given. Absent where there are no connections.
   */
  epoch?(): number;

  /** Resolves when there is something at or behind `from`, when the signal aborts, or now and then without a reason. */
  wait(partition: number, from: number, signal: AbortSignal): Promise<void>;

  close(): Promise<void>;
};
