import type { Envelope } from '@stemma/events';
import type { Checkpoint, Damage, HeadState } from './checkpoint.ts';

/** A frame that every reader accepts (record §2). Bytes are views: copy what must outlive the batch. */
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
  /** True for frames of `log:P`, which no read model sees. */
  readonly control: boolean;
};

/** The result of the check of some records of a partition. */
export type CheckedBatch = {
  /** Accepted frames in order. Frames of a defective history after its defect are not among them. */
  readonly accepted: readonly AcceptedFrame[];
  /** Heads that changed. */
  readonly heads: ReadonlyMap<string, HeadState>;
  /** The reader's checkpoint after these records. */
  readonly checkpoint: Checkpoint;
  readonly damage: readonly Damage[];
  /** The offset of a damaged record that closes the partition: nothing after it is read until it is acknowledged. */
  readonly held: number | null;
};
