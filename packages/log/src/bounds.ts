import { fail } from '@stemma/errors';
import { FRAME_VERSION } from '@stemma/events';

/** What a frame of one version may be. Constants for ever: a later, tighter bound would change which old frames count. */
export type Bounds = {
  /** Of a frame without its hash. Every default Kafka broker takes it (record §4). */
  readonly frame: number;
  /** A content above this size goes to the contents store. */
  readonly inline: number;
  /** Of one content. */
  readonly content: number;
  /** Of all contents that one frame names, equal ones counted once. */
  readonly contents: number;
  /** Of a command's id and a recorder's or actor's name, in UTF-8. */
  readonly id: number;
};

const BOUNDS: ReadonlyMap<number, Bounds> = new Map([
  [
    1,
    {
      frame: 900 * 1024,
      inline: 256 * 1024,
      content: 64 * 1024 * 1024,
      contents: 256 * 1024 * 1024,
      id: 512,
    },
  ],
]);

/** The bounds of frames of version `v`. @throws E_VERSION_NEEDED if this Stemma does not know it. */
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
