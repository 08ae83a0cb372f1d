/** An entry to append: a record's bytes (a frame and its SHA-256) under the id of its history. */
export type Entry = { readonly key: string; readonly bytes: Uint8Array };

/** The offset of an appended record and of the record after it. Offsets rise, with gaps. */
export type EntryOffset = { readonly offset: number; readonly next: number };

/** A record of a partition. Its bytes may be a view of a larger buffer: copy them to keep them. */
export type LogRecord = EntryOffset & {
  /** The history it was appended under; null if the log can no longer read it. */
  readonly key: string | null;
  readonly bytes: Uint8Array;
  /**
   * True if the log keeps the key under a checksum that still matches: then it is the key of the appended record,
   * whatever became of `bytes` (record §2).
   */
  readonly keyVouched: boolean;
  /** True if the log itself knows that these are not the appended bytes, even if `bytes` look right. */
  readonly damaged: boolean;
};

/** Records in order, and the offset to continue from: after the last record, or the end. */
export type ReadBatch = { readonly records: readonly LogRecord[]; readonly next: number };

export type ReadOptions = {
  /** About how many bytes to read at once; a larger record is still returned whole. Default 1 MiB. */
  readonly maxBytes?: number;
  /**
   * Offsets at which records are known to begin, ascending: a log that can find them without looking at those between gives these
   * alone, without keys, and need not check their headers. Who asks so checks what is made of them.
   */
  readonly known?: readonly number[];
  /** What the log stores now: nothing comes from what the reader still has in memory, and nothing of it is kept there. */
  readonly fresh?: boolean;
};

/**
 * A log of records in partitions, each with one order. It keeps what it acknowledged. It may lose an acknowledgement,
 * store a record twice or reorder a batch; readers must bear all three (record §2).
 */
export type EventLog = {
  /** Assigned when the log was made; it never changes (record §5). */
  readonly id: string;
  readonly partitions: number;
  /** True if no acknowledged record can be lost: the writer may then trust offsets (record §3). */
  readonly keepsItsEnd: boolean;

  /**
   * Appends in order; resolves with the offsets when all entries are durable. When it rejects, the outcome is unknown,
   * unless the code is E_LOG_BUSY or E_LOG_CLOSED or the detail says `written: false`: then nothing was written.
   */
  append(partition: number, entries: readonly Entry[]): Promise<readonly EntryOffset[]>;

  /**
   * Whether a record like those before could be appended now. Absent where only an append tells.
   *
   * @throws E_IO, E_LOG_BUSY, E_LOG_CLOSED if not
   */
  checkWritable?(): Promise<void>;

  /**
   * The records from an offset at which a record begins, or the end. Empty at the end.
   *
   * @throws E_CURSOR_LOST if no record begins at the offset, or it is beyond the end.
   */
  read(partition: number, from: number, options?: ReadOptions): Promise<ReadBatch>;

  /** The offset after the last durable record. */
  end(partition: number): Promise<number>;

  /** The offset of the first record: 0 unless the log was cut. */
  start(partition: number): Promise<number>;

  /**
   * A number that changes when what was read of a partition may not hold any more: a connection was lost or made anew,
   * the partition may have another leader, or another file lies where its last one was. A reader that continues from a
   * cursor must then check the cursor again. Absent where nothing of this can happen.
   */
  epoch?(partition: number): number;

  /**
   * Refuses a log that has lost records, would lose some as it is set up, or is another one by now. Who acknowledges something asks
   * before. Absent where nothing of this can happen unnoticed.
   *
   * @throws E_LOG_MISMATCH, which says what happened; errors of reaching the log
   */
  checkIntact?(): Promise<void>;

  /** True if reading goes over a network to brokers that keep copies. */
  readonly isRemote?: true;

  /** Resolves when there is a record at or after `from`, when the signal aborts, or now and then without a reason. */
  wait(partition: number, from: number, signal: AbortSignal): Promise<void>;

  close(): Promise<void>;
};
