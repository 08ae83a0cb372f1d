/**
 * What the check of records needs to know of a history (record §2). Plain data; each row store keeps one per history.
 */
export type HeadState = {
  /** The `seq` that the next accepted frame has. */
  readonly next: number;
  /** SHA-256 of the last accepted frame; 32 zero bytes before the first. */
  readonly prev: Uint8Array;
  readonly state: 'open' | 'damaged' | 'defective';
  /** The `seq` from which the history is not served; null while it is open. */
  readonly stopped: number | null;
};

/**
 * A record whose bytes are not those that were appended. `history` is the one that it closed; null if it is unknown.
 */
export type Damage = {
  readonly offset: number;
  readonly history: string | null;
  /** The `seq` at which that history stops; null if the history is unknown. */
  readonly seq: number | null;
  /** True if the record may have been a frame of any history: it closes the partition until it is acknowledged. */
  readonly affectsWholePartition: boolean;
};

/** What a reader knows of a partition besides heads. Plain data; each row store keeps one per partition (record §5). */
export type PartitionState = {
  readonly partition: number;
  /** Partitions of the log: they decide which histories live in this one (record §5). */
  readonly partitions: number;
  /** The control history in force: 0 is `log:P`, 1 is `log:P/1` … (record §2). */
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

/** Why a record is ignored: all but `foreign` are of records with the right hash (record §2). */
export type StaleReason =
  /** It repeats the newest accepted frame: a repeated send. */
  | 'repeated'
  /** Another frame has its `seq`. */
  | 'overtaken'
  /** Its `seq` or `prev` does not fit: a frame before it is missing, or it was decided on another state. */
  | 'unfit'
  /** Its history belongs to another partition, or it is a control history that is not in force yet. */
  | 'misplaced'
  /** Its history is damaged before this record. */
  | 'after-damage'
  /** It is no record, and its key names a history of another partition. */
  | 'foreign';

/** An offset that a reader can check against the log later (record §5). Plain data; opaque outside this package. */
export type Cursor = {
  readonly log: string;
  readonly partition: number;
  readonly offset: number;
  /** The offset of the first remembered record before `offset`. */
  readonly from: readonly number[];
  /** 32 bytes for each of the up to 64 records before `offset`, oldest first. */
  readonly tail: Uint8Array;
};

/** What a reader of one partition saves to continue later, in one transaction with its rows. */
export type Checkpoint = { readonly cursor: Cursor; readonly state: PartitionState };

/** Heads of histories of one partition, as a reader keeps them. A history without an entry is unknown. */
export type Heads = {
  load(
    histories: readonly string[],
  ): Promise<ReadonlyMap<string, HeadState>> | ReadonlyMap<string, HeadState>;
};
