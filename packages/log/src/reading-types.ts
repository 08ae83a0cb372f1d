import type { Envelope } from '@stemma/events';
import type { Checkpoint, Damage, HeadState } from './checkpoint.ts';

/** A frame that every reader accepts (record §2). Bytes are views: copy what is kept beyond the batch. */
export type AcceptedFrame = {
  readonly partition: number;
  readonly offset: number;
  readonly next: number;
  readonly envelope: Envelope;
  /** SHA-256 of `bytes`: the `prev` of the next frame. */
  readonly hash: Uint8Array;
  /** The frame; its body begins at `bodyAt`. */
  readonly bytes: Uint8Array;
  readonly bodyAt: number;
  /** True for frames of `log:P`: no read model sees them. */
  readonly control: boolean;
};

/** What some records of a partition came to. */
export type CheckedBatch = {
  /** In order. Frames of a defective history are not among them: nothing behind the defect is served. */
  readonly accepted: readonly AcceptedFrame[];
  /** Heads that changed. */
  readonly heads: ReadonlyMap<string, HeadState>;
  /** The reader's checkpoint behind it. */
  readonly checkpoint: Checkpoint;
  readonly damage: readonly Damage[];
  /** The offset of a damaged record that closes the partition: nothing behind it is read until it is acknowledged. */
  readonly held: number | null;
};
