/** What the check of records needs of a history (record §2). Plain data: each row store keeps one a history. */
export type HeadState = {
  /** The `seq` that the next accepted frame has. */
  readonly next: number;
  /** SHA-256 of the last accepted frame; 32 zero bytes before the first. */
  readonly prev: Uint8Array;
  readonly state: 'open' | 'damaged' | 'defective';
  /** The `seq` at which it stops being served, unless it is open. */
  readonly stopped: number | null;
};

/** A record that is not what was appended. `history` is the one it closed; null where nobody knows. */
export type Damage = {
  readonly offset: number;
  readonly history: string | null;
  /** The `seq` at which that history stops; null where nobody knows the history. */
  readonly seq: number | null;
  /** True if it may have been a frame of any history: it closes the partition until it is acknowledged. */
  readonly affectsWholePartition: boolean;
};

/** What a reader knows of a partition besides heads. Plain data: each row store keeps one a partition (record §5). */
export type PartitionState = {
  readonly partition: number;
  /** Of the log: decides which histories live here (record §5). */
  readonly partitions: number;
  /** Which control history rules: 0 is `log:P`, 1 is `log:P/1` … (record §2). */
  readonly control: number;
  /** The highest version that a `FormatRaised` allows. */
  readonly format: number;
  readonly damage: readonly Damage[];
  /** Offsets that an operator acknowledged. */
  readonly acknowledged: readonly number[];
  readonly accepted: number;
  /** How many records were ignored, by reason. */
  readonly stale: Readonly<Record<StaleReason, number>>;
};

/** Why a record with the right hash is ignored (record §2). */
export type StaleReason =
  /** It is the newest accepted frame once more: a repeated send. */
  | 'repeated'
  /** Its `seq` is taken. */
  | 'overtaken'
  /** Its `seq` or `prev` does not fit: something before it is missing, or it was decided on another past. */
  | 'unfit'
  /** Its history belongs to another partition, or is a control history whose time has not come. */
  | 'misplaced'
  /** Its history is damaged before it. */
  | 'behind-damage';

/** An offset of a log that can be checked again (record §5). Plain data; opaque to all but this package. */
export type Cursor = {
  readonly log: string;
  readonly partition: number;
  readonly offset: number;
  /** Where the first of the remembered records before `offset` begins. */
  readonly from: readonly number[];
  /** 32 bytes for each of the up to 64 records before `offset`, oldest first. */
  readonly tail: Uint8Array;
};

/** What a reader of one partition keeps to go on later: in one transaction with its rows. */
export type Checkpoint = { readonly cursor: Cursor; readonly state: PartitionState };

/** Heads of histories of one partition, as a reader keeps them. A history that is not in the answer is unknown. */
export type Heads = {
  load(
    histories: readonly string[],
  ): Promise<ReadonlyMap<string, HeadState>> | ReadonlyMap<string, HeadState>;
};
