import type { Author, Frame, HistoryEvent } from '@stemma/events';
import type { Checkpoint, HeadState } from '../checkpoint.ts';
import type { DecodedFrames } from '../decoded-frames.ts';
import type { KnownFrames } from '../read-back.ts';
import type { ContentSource } from '../read-frame.ts';

/** A command for the writer: what the domain decides, and what makes a repeated command harmless (record §3). */
export type Intent<C> = {
  readonly id: string;
  /** SHA-256 (32 bytes) of the canonical msgpack of the command without its id. */
  readonly digest: Uint8Array;
  readonly history: string;
  readonly command: C;
};

/** What a domain decides: the body of the frame, without the command's id and digest. */
export type Decision = {
  readonly author: Author;
  readonly at: bigint;
  readonly branchId: number;
  readonly events: readonly HistoryEvent[];
};

/** A command that was accepted before: a repeated command is answered from its frame, and nothing is written. */
export type Repeated = {
  readonly repeats: number;
  /** The frame, if it is in memory. */
  readonly frame: Frame | null;
};

/** The decision state of one history, from `next` on. The writer applies every frame exactly once, in order. */
export type Session<C> = {
  /** The `seq` of the next frame, and SHA-256 of the frame before it; `apply` and `undo` change both. */
  readonly next: number;
  readonly prev: Uint8Array;
  /** When loaded, the state included every frame before this offset. */
  readonly asOf: number;
  /** About how many bytes of memory the state takes. */
  readonly bytes: number;
  /**
   * The events for a command on the current state, which changes only when they are applied; for a command that a frame given to `apply` or
   * an older one recorded, that frame (record §3: commands remembered).
   *
   * @throws E_COMMAND_REUSED if the id was used for another command, E_CONFLICT, and other coded errors
   */
  decide(intent: Intent<C>): Promise<Decision | Repeated> | Decision | Repeated;
  /**
   * Checks a frame as every reader does and applies it. The frame is decoded, with its contents in place; one with the very events
   * that `decide` returned last is what that command decided, if nothing else was asked of the session since.
   *
   * @throws E_HISTORY_DEFECTIVE if it does not apply or a recorded hash differs; the state is then as before.
   */
  apply(frame: Frame, hash: Uint8Array): Promise<void> | void;
  /** Undoes the frame applied last. The writer never undoes more than it sent ahead. */
  undo(): Promise<void> | void;
  /**
   * The rows have every frame before this head: what is kept because they lacked them may go. Called while no command is decided
   * and nothing is sent.
   */
  rowsHave?(head: Pick<HeadState, 'next' | 'prev'>): void;
};

/** What the writer needs of the rows and the rules of histories; the composing program provides it. */
export type Domain<C> = {
  /** The checkpoint of the partition's rows; the writer reads on from it. */
  checkpoint(partition: number): Promise<Checkpoint> | Checkpoint;
  /** Heads in the rows, read in one snapshot with the offset of their checkpoint. */
  heads(partition: number, histories: readonly string[]): Promise<HeadsAsOf> | HeadsAsOf;
  /** A history from the rows, read in one snapshot. @param from the first frame that is read again in the log */
  load(history: string, from: number): Promise<LoadedHistory<C>> | LoadedHistory<C>;
};

/** A history as one snapshot of the rows has it. */
export type LoadedHistory<C> = {
  /** Its decision state; `next` is 0 if there is no such history. */
  readonly session: Session<C>;
  readonly head: HeadState | undefined;
  /**
   * The accepted frames that the rows have: they are read again in the log before anything is written after them. Null: they are
   * not read again.
   */
  readonly known: KnownFrames | null;
};

/** Heads, and the offset up to which they include every frame. */
export type HeadsAsOf = { readonly asOf: number; readonly heads: ReadonlyMap<string, HeadState> };

/** The answer to a command: a function of its accepted frame (record §3). */
export type Accepted = {
  readonly history: string;
  readonly partition: number;
  readonly seq: number;
  /** True if the command was accepted before; its offset is then unknown. */
  readonly repeated: boolean;
  /** The frame; null if it was accepted before and is not in memory. */
  readonly frame: Frame | null;
  /** The offset of its record; null if it was accepted before. */
  readonly offset: number | null;
  /** A reader whose checkpoint is at this offset or after has seen the frame; null if it was accepted before. */
  readonly next: number | null;
};

export type Writer<C> = {
  /**
   * Decides and appends a command; resolves when its frame is accepted. Commands on one history are decided in the
   * order of the calls.
   *
   * @throws what the domain's decision throws; E_CONFLICT if others were first
   *   too often; E_COMMAND_REUSED; E_OUTCOME_UNKNOWN if the log does not say in time (send the same command again);
   *   E_HISTORY_DAMAGED, E_HISTORY_DEFECTIVE, E_PARTITION_CLOSED, E_FRAME_TOO_LARGE, E_CONTENT_TOO_LARGE, E_LOG_BUSY,
   *   E_LOG_CLOSED.
   */
  write(intent: Intent<C>): Promise<Accepted>;
  /** Refuses later writes; resolves when every earlier one has its outcome. */
  close(): Promise<void>;
};

export type WriterOptions<C> = {
  readonly domain: Domain<C>;
  /** Where the writer stores contents before the frame that names them, and reads contents from. */
  readonly contents: ContentSink & ContentSource;
  /** Random numbers in [0, 1), for the jitter of retries. */
  readonly random: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** A steady clock in milliseconds, for the deadline, and for what is idle. */
  readonly now: () => number;
  /** How often a command is decided again after others were first. Default 64: about four seconds of them. */
  readonly tries?: number;
  /** How long an outcome may stay unknown, in milliseconds. Default 30,000. */
  readonly deadline?: number;
  /** How many commands are decided ahead of the answer. Default 256. */
  readonly ahead?: number;
  /**
   * Of more commands that wait than this, half are sent, and the others are decided while these are on their way. Default 16.
   */
  readonly whole?: number;
  /**
   * About how many bytes of decision states are kept in memory, however many histories they belong to; each partition has its share.
   * Default 128 MiB.
   */
  readonly sessionBytes?: number;
  /** Is given the frames that are sent, unless they are sealed or have contents of their own in the store. */
  readonly decoded?: Pick<DecodedFrames, 'keep'>;
  /** Called with the number of frames that lost their `seq` to another writer. */
  readonly overtaken?: (frames: number) => void;
};

/** Stores a content durably under its hash, unless it is stored already. */
export type ContentSink = { put(bytes: Uint8Array): Promise<unknown> };

/** A command that the writer has not answered yet. */
export type Task<C> = {
  readonly intent: Intent<C>;
  readonly resolve: (answer: Accepted) => void;
  readonly reject: (error: unknown) => void;
  /** How often another writer was first. */
  tries: number;
};

/** A frame that was decided and sent to the log, without a known outcome. */
export type SentFrame<C> = {
  readonly task: Task<C>;
  readonly frame: Frame;
  readonly hash: Uint8Array;
  /** The record, kept to be sent again unchanged; the body of its frame begins at `bodyAt`. */
  readonly record: Uint8Array;
  readonly bodyAt: number;
};
