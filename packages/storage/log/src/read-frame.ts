import { ContentRef } from '@stemma/canonical';
import type { Frame, HistoryEvent } from '@stemma/events';
import { decodeBody, finishBody, missingContents } from './body.ts';
import type { AcceptedFrame } from './reading-types.ts';
import type { OpenRecord } from './record.ts';
import { openBody, type FrameSealer } from './sealing.ts';

/** A source of contents by reference. @throws E_CONTENT_MISSING, E_CONTENT_DAMAGED */
export type ContentSource = {
  get(ref: ContentRef): Promise<Uint8Array>;
  /** Those that are not stored; their bytes are not looked at. Without it nobody knows before they are asked for. */
  missing?(refs: readonly ContentRef[]): Promise<readonly ContentRef[]>;
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

/** The contents that a frame names, those among them that an array of events names which was moved out of it. */
export const namedContents = async (
  { envelope, frame, bodyAt }: OpenRecord,
  contents: Pick<ContentSource, 'get'>,
): Promise<readonly ContentRef[]> => {
  if (!mayNameContents(frame, bodyAt)) return [];
  const body = decodeBody(envelope.v, frame, bodyAt);
  const outer = missingContents(body, () => undefined);
  const [events] = outer;
  if (!(body.events instanceof ContentRef) || events === undefined) return outer;
  const bytes = await contents.get(events);
  return [events, ...missingContents(body, (ref) => (ref.sha256 === events.sha256 ? bytes : undefined))];
};

/** False only if no reference is in a frame (record §4): most have none, and need not be decoded to know it. */
const mayNameContents = (frame: Uint8Array, bodyAt: number): boolean => {
  for (let at = frame.indexOf(EXTENSION, bodyAt); at !== -1; at = frame.indexOf(EXTENSION, at + 1))
    if (frame[at + 2] === CONTENT_REF) return true;
  return false;
};

/** The first byte of an extension of msgpack whose length is one byte, and the type of references. */
const [EXTENSION, CONTENT_REF] = [0xc7, 1];
