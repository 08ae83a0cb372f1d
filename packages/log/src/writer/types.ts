import type { Author, Frame, HistoryEvent } from '@stemma/events';
import type { Checkpoint, HeadState } from '../checkpoint.ts';
import type { ContentSource } from '../read-frame.ts';

/** A command for the writer: what the domain decides it from, and what makes a repetition of it harmless (record §3). */
export type Intent<C> = {
  readonly id: string;
  /** SHA-256 (32 bytes) of the canonical msgpack of the command without its id. */
  readonly digest: Uint8Array;
  readonly history: string;
  /** The `seq` of the last frame that whoever commands has seen (−1: none); the writer refuses if the history moved on. */
  readonly expected?: number;
  readonly command: C;
};

/** What a domain decides: the body of the frame, without the command's id and digest. */
export type Decision = {
  readonly author: Author;
  readonly at: bigint;
  readonly branchId: number;
  readonly events: readonly HistoryEvent[];
};

/** The decision state of one history, from `next` on. The writer gives it every frame exactly once, in order. */
export type Session<C> = {
  /** The `seq` the next frame will have, and SHA-256 of the frame before it; `apply` and `undo` move them. */
  readonly next: number;
  readonly prev: Uint8Array;
  /** At loading, the state was that of the log before this offset: no frame before it is missing. */
  readonly asOf: number;
  /** The `seq` and digest that a command id stands for already. Frames given to `apply` count. */
  remembered(command: string): Promise<Remembered | undefined> | Remembered | undefined;
  /** The facts a command comes to on the state as it is; leaves the state as it was. @throws a coded error */
  decide(command: C): Promise<Decision> | Decision;
  /**
   * Checks a frame as every reader does and takes it in. The frame is as it was decoded, contents in place.
   * @throws E_HISTORY_DEFECTIVE if it does not apply or a recorded hash differs; the state is then as before.
   */
  apply(frame: Frame, hash: Uint8Array): Promise<void> | void;
  /** Takes back the frame applied last. The writer never takes back more than it sent ahead. */
  undo(): Promise<void> | void;
};

export type Remembered = {
  readonly seq: number;
  readonly digest: Uint8Array;
  /** The frame, where it is at hand. */
  readonly frame?: Frame;
};

/** What the writer needs of the rows and of the rules of histories: whoever composes them gives it. */
export type Domain<C> = {
  /** The checkpoint of the partition's rows; the writer reads on from there. */
  checkpoint(partition: number): Promise<Checkpoint> | Checkpoint;
  /** Heads as the rows have them, read in one snapshot with the offset of their checkpoint. */
  heads(partition: number, histories: readonly string[]): Promise<HeadsAsOf> | HeadsAsOf;
  /** The decision state of a history as the rows have it, read in one snapshot; `next` 0 if there is no such history. */
  load(history: string): Promise<Session<C>> | Session<C>;
};

/** Heads, and the offset before which everything is in them. */
export type HeadsAsOf = { readonly asOf: number; readonly heads: ReadonlyMap<string, HeadState> };

/** The answer to a command: a function of its accepted frame (record §3). */
export type Accepted = {
  readonly history: string;
  readonly partition: number;
  readonly seq: number;
  /** True if the command was accepted before; where it lies is not known here then. */
  readonly repeated: boolean;
  /** The frame; null if it was accepted before and is not at hand. */
  readonly frame: Frame | null;
  /** Where it lies; null if it was accepted before. */
  readonly offset: number | null;
  /** A reader whose checkpoint is here or further has seen it; null as above. */
  readonly next: number | null;
};

export type Writer<C> = {
  /**
   * Decides and appends; resolves when the frame is accepted. Commands on one history are decided in the order of the calls.
   *
   * @throws what the domain's decision throws; E_CONFLICT if `expected` is not the last `seq`, or if others were faster
   *   too often; E_COMMAND_REUSED; E_OUTCOME_UNKNOWN if the log does not say in time (send the same command again);
   *   E_HISTORY_DAMAGED, E_HISTORY_DEFECTIVE, E_PARTITION_CLOSED, E_FRAME_TOO_LARGE, E_CONTENT_TOO_LARGE, E_LOG_BUSY,
   *   E_LOG_CLOSED.
   */
  write(intent: Intent<C>): Promise<Accepted>;
  /** Resolves when everything written before has its outcome. Later writes are refused. */
  close(): Promise<void>;
};

export type WriterOptions<C> = {
  readonly domain: Domain<C>;
  /** Where contents go before the frame that names them, and come from. */
  readonly contents: ContentSink & ContentSource;
  /** In [0, 1): jitter between tries. */
  readonly random: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** A steady clock in milliseconds, for the deadline only. */
  readonly now: () => number;
  /** How often to decide again after others were first. Default 10. */
  readonly tries?: number;
  /** How long an outcome may stay unknown, in milliseconds. Default 30,000. */
  readonly deadline?: number;
  /** How many commands are decided ahead of the answer. Default 256. */
  readonly ahead?: number;
  /** Decision states kept in memory. Default 64. */
  readonly sessions?: number;
  /** Called when frames were sent whose place another writer took, with their number. */
  readonly overtaken?: (frames: number) => void;
};

/** Stores a content durably under its hash, or finds it there. */
export type ContentSink = { put(bytes: Uint8Array): Promise<unknown> };
