import type { HistoryEvent, StemmaEvent } from './catalogue.ts';

/** The newest version of frames that this Stemma writes and reads. */
export const FRAME_VERSION = 2;

/** The events whose shape is not that of the first version, and those that it does not have. */
const VERSIONS: Partial<Record<StemmaEvent['type'], number>> = {
  CallStarted: 2,
  CallFinished: 2,
  RunRecorded: 2,
  RerunEnded: 2,
  EffectRecorded: 2,
  ProviderCallRecorded: 2,
  ImportRecorded: 2,
  ImportLinked: 2,
  HistoryLabelled: 2,
};

/** The version of the newest shape of an event. */
export const versionOfEvent = (type: StemmaEvent['type']): number => VERSIONS[type] ?? 1;

/**
 * The version of a frame with these events: the lowest one that has all of their shapes, so that a reader of an earlier version
 * stops only at what it cannot read.
 */
export const versionOfFrame = (events: readonly { readonly type: StemmaEvent['type'] }[]): number =>
  events.reduce((version, { type }) => Math.max(version, versionOfEvent(type)), 1);

/** The first of the two maps of a frame: enough to check it. Its layout never changes (record §1, §2). */
export type Envelope = {
  readonly v: number;
  readonly history: string;
  /** The number of the frame in its history, over all branches, from 0. */
  readonly seq: number;
  /** SHA-256 of the bytes of the frame before it in the history; 32 zero bytes for `seq` 0. */
  readonly prev: Uint8Array;
};

/**
 * The author of a frame: a recorder for the record of an agent (or importer), an actor for an observer's intervention.
 */
export type Author = { readonly recorder: string } | { readonly actor: string };

/** The second map: the result of one command. */
export type Body<E extends StemmaEvent = HistoryEvent> = Author & {
  /**
   * The command's id, which the client made, and SHA-256 (32 bytes) of the canonical msgpack of the command without it.
   */
  readonly command: string;
  readonly digest: Uint8Array;
  /** Nanoseconds since 1970, read once from the writer's clock when the command was decided. */
  readonly at: bigint;
  /** The branch that all events of the frame belong to. */
  readonly branchId: number;
  readonly events: readonly E[];
};

export type Frame<E extends StemmaEvent = HistoryEvent> = {
  readonly envelope: Envelope;
  readonly body: Body<E>;
};
