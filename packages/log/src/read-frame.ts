import type { ContentRef } from '@stemma/canonical';
import type { Frame, HistoryEvent } from '@stemma/events';
import { decodeBody, finishBody, missingContents } from './body.ts';
import type { AcceptedFrame } from './reading-types.ts';
import { openBody, type FrameSealer } from './sealing.ts';

/** A source of contents by reference. @throws E_CONTENT_MISSING, E_CONTENT_DAMAGED */
export type ContentSource = {
  get(ref: ContentRef): Promise<Uint8Array>;
  /** The keys of sealed frames; without it they cannot be read. */
  readonly sealer?: FrameSealer | undefined;
};

/**
 * The events of an accepted frame, with their contents in place.
 *
 * @throws E_VERSION_NEEDED: the reader must stop. An error for which `isDefect` returns true makes the history
 *   defective at this frame.
 */
export const readFrame = async (
  { envelope, bytes, bodyAt }: Pick<AcceptedFrame, 'envelope' | 'bytes' | 'bodyAt'>,
  contents: ContentSource,
): Promise<Frame> => {
  const body = decodeBody(envelope.v, bytes, bodyAt);
  const fetched = new Map<string, Uint8Array>();
  const find = (ref: ContentRef): Uint8Array | undefined => fetched.get(ref.sha256);
  // Two rounds at most: the array of events, then the contents that it names.
  for (let missing = missingContents(body, find); missing.length > 0; missing = missingContents(body, find)) {
    for (const ref of missing) fetched.set(ref.sha256, await contents.get(ref));
  }
  const finished = openBody(envelope, finishBody(body, find), contents.sealer);
  return { envelope, body: finished as Frame['body'] & { events: readonly HistoryEvent[] } };
};
