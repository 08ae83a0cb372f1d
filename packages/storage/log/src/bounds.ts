import { fail } from '@stemma/errors';
import { FRAME_VERSION } from '@stemma/events';

/**
 * The limits of a frame of one version. They never change: a tighter limit would change which old frames are accepted.
 */
export type Bounds = {
  /** Bytes of a frame without its hash. Every Kafka broker with default settings accepts this size (record §4). */
  readonly frame: number;
  /** Bytes above which a content goes to the contents store. */
  readonly inline: number;
  /** Bytes of one content. */
  readonly content: number;
  /** Bytes of all contents that one frame names, equal ones counted once. */
  readonly contents: number;
  /** Bytes in UTF-8 of a command's id and of a recorder's or actor's name. */
  readonly id: number;
};

const FIRST: Bounds = {
  frame: 900 * 1024,
  inline: 256 * 1024,
  content: 64 * 1024 * 1024,
  contents: 256 * 1024 * 1024,
  id: 512,
};

const BOUNDS: ReadonlyMap<number, Bounds> = new Map([
  [1, FIRST],
  [2, FIRST],
]);

/** The limits of frames of version `v`. @throws E_VERSION_NEEDED if this Stemma does not know the version. */
export const boundsOf = (v: number): Bounds => {
  const bounds = BOUNDS.get(v);
  if (bounds) return bounds;
  throw fail(
    'E_VERSION_NEEDED',
    `the log has a frame of version ${v}; this Stemma reads versions up to ${FRAME_VERSION}`,
    {
      version: v,
    },
  );
};
