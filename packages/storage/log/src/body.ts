import { binariesIfRead, ContentRef, pack, unpackFrom, type Packable } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { versionOfFrame, type Author, type Body, type Envelope, type StemmaEvent } from '@stemma/events';
import { boundsOf, type Bounds } from './bounds.ts';
import { binariesIn, checkEvents } from './check-events.ts';
import { encodeEnvelope } from './envelope.ts';
import {
  externaliseContents,
  isMap,
  refsIn,
  replaceValues,
  type StoredContent,
} from './externalise-contents.ts';
import { upcast, type RawEvent } from './upcast.ts';

/** The bytes of a frame, and the contents that must be stored before the frame is appended. */
export type EncodedFrame = {
  readonly bytes: Uint8Array;
  readonly contents: readonly StoredContent[];
  /** The events of the frame as their schemas return them. */
  readonly events: readonly StemmaEvent[];
};

/**
 * The bytes of a frame (record §1), with large contents moved out as record §4 requires.
 *
 * @throws E_FRAME_INVALID if an event does not have its shape, or not in a frame of this version; E_CONTENT_TOO_LARGE; E_FRAME_TOO_LARGE.
 */
export const encodeFrame = (envelope: Envelope, body: Body<StemmaEvent>): EncodedFrame => {
  const bounds = boundsOf(envelope.v);
  const checked = checkEvents(body.events as readonly unknown[] as readonly RawEvent[], true);
  if (versionOfFrame(checked) > envelope.v)
    throw fail('E_FRAME_INVALID', `a frame of version ${envelope.v} cannot hold events of a later one`);
  const head = encodeEnvelope(envelope);
  const whole = pack(packableBody(body, body.events as unknown as Packable));
  const size = head.length + whole.length;
  const { events, contents } = externaliseContents(
    body.events as unknown as readonly RawEvent[],
    size,
    bounds,
  );
  const bytes = Buffer.concat([head, contents.length === 0 ? whole : pack(packableBody(body, events))]);
  if (bytes.length > bounds.frame)
    throw fail('E_FRAME_TOO_LARGE', `a frame has ${bytes.length} bytes, more than ${bounds.frame}`);
  return { bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length), contents, events: checked };
};

/**
 * True if every reader of the frame gets just this body: then its writer need not decode it. False if that is not certain, as for a
 * frame with contents in the store.
 *
 * @throws E_FRAME_INVALID if no reader could read it.
 */
export const isReadAs = (
  { bytes, contents, events }: EncodedFrame,
  v: number,
  bodyAt: number,
  body: Body<StemmaEvent>,
): boolean => {
  // What a reader of another version raises, it reads as something else.
  if (v !== versionOfFrame(events) || contents.length > 0) return false;
  const value = packableBody(body, events as unknown as Packable);
  const binaries = binariesIfRead(bytes, bodyAt, value);
  if (binaries === undefined) return false;
  // One of them is the digest of the command.
  const read = shaped(value, v, boundsOf(v), binaries - 1, 0);
  return read.binaries === binariesIn(events);
};

const packableBody = (body: Body<StemmaEvent>, events: Packable): Packable => ({
  ...authorOf(body),
  at: body.at,
  command: body.command,
  digest: body.digest,
  events,
  // The recorded key keeps its first name (record §1).
  lineage: body.branchId,
});

const authorOf = (body: Author): Author =>
  'actor' in body ? { actor: body.actor } : { recorder: body.recorder };

/** A decoded body whose contents are not fetched yet. */
export type RawBody = {
  readonly v: number;
  readonly author: Author;
  readonly command: string;
  readonly digest: Uint8Array;
  readonly at: bigint;
  readonly branchId: number;
  readonly events: readonly RawEvent[] | ContentRef;
  /** Byte strings in the events. More of them than the events' shapes allow is a defect. */
  readonly binaries: number;
  /** References to contents in the body. */
  readonly refs: number;
};

/**
 * The body of an accepted frame. Its own shape is checked, that of its events is not.
 *
 * @throws E_VERSION_NEEDED; E_FRAME_INVALID (the history is defective at this frame).
 */
export const decodeBody = (v: number, frame: Uint8Array, bodyAt: number): RawBody => {
  const bounds = boundsOf(v);
  if (frame.length > bounds.frame) throw invalid(`it has ${frame.length} bytes, more than ${bounds.frame}`);
  const { value, end, refs, binaries } = unpackFrom(frame, bodyAt);
  if (end !== frame.length) throw invalid(`${frame.length - end} bytes lie behind its body`);
  const body = shaped(value, v, bounds, binaries - 1, refs);
  refuseStrayRefs(body.events, refs);
  return body;
};

const shaped = (value: Packable, v: number, bounds: Bounds, binaries: number, refs: number): RawBody => {
  if (!isMap(value) || Object.keys(value).length !== 6) throw invalid('its body has other keys');
  const { command, digest, at, lineage: branchId, events } = value;
  const author = shapedAuthor(value, bounds);
  if (!isId(command, bounds)) throw invalid('its command is no id');
  if (!(digest instanceof Uint8Array) || digest.length !== 32) throw invalid('its digest is no SHA-256');
  if (!(typeof at === 'bigint' || Number.isSafeInteger(at))) throw invalid('its time is no integer');
  if (!isCount(branchId)) throw invalid('its branch is no branch id');
  if (!(events instanceof ContentRef || isEvents(events))) throw invalid('its events are no list of maps');
  return { v, author, command, digest, at: BigInt(at as number | bigint), branchId, events, binaries, refs };
};

const shapedAuthor = (value: RawEvent, bounds: Bounds): Author => {
  const { actor, recorder } = value;
  if (actor === undefined && isId(recorder, bounds)) return { recorder };
  if (recorder === undefined && isId(actor, bounds)) return { actor };
  throw invalid('it names neither a recorder nor an actor');
};

const isId = (value: unknown, bounds: Bounds): value is string =>
  typeof value === 'string' && value.length > 0 && Buffer.byteLength(value) <= bounds.id;

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

const isEvents = (value: unknown): value is readonly RawEvent[] =>
  Array.isArray(value) && value.length > 0 && value.every(isMap);

const refuseStrayRefs = (events: RawBody['events'], refs: number): void => {
  const meant = events instanceof ContentRef ? 1 : refs === 0 ? 0 : refsIn(events).length;
  if (refs !== meant) throw invalid('a reference to a content stands where none may');
};

/** The bytes of a content that was fetched and verified before; undefined if it was not fetched. */
export type FetchedContents = (ref: ContentRef) => Uint8Array | undefined;

/**
 * What the caller must fetch before {@link finishBody}: first the array of events, if that was moved out; then the
 * contents that the array names. Empty when nothing is missing.
 */
export const missingContents = (body: RawBody, fetched: FetchedContents): readonly ContentRef[] => {
  if (body.refs === 0) return [];
  if (!(body.events instanceof ContentRef)) return missing(refsIn(body.events), fetched, boundsOf(body.v));
  const bytes = fetched(body.events);
  if (!bytes) return missing([body.events], fetched, boundsOf(body.v));
  return missing(refsIn(unpackEvents(bytes).events), fetched, boundsOf(body.v));
};

const missing = (
  refs: readonly ContentRef[],
  fetched: FetchedContents,
  bounds: Bounds,
): readonly ContentRef[] => {
  const distinct = new Map(refs.map((ref) => [ref.sha256, ref]));
  let total = 0;
  for (const { size } of distinct.values()) {
    if (size > bounds.content)
      throw invalid(`it names a content of ${size} bytes, more than ${bounds.content}`);
    total += size;
  }
  if (total > bounds.contents)
    throw invalid(`it names contents of ${total} bytes, more than ${bounds.contents}`);
  return [...distinct.values()].filter((ref) => !fetched(ref));
};

const unpackEvents = (bytes: Uint8Array): { events: readonly RawEvent[]; binaries: number } => {
  const { value, end, refs, binaries } = unpackFrom(bytes, 0);
  if (end !== bytes.length || !isEvents(value)) throw invalid('the content that it names holds no events');
  refuseStrayRefs(value, refs);
  return { events: value, binaries };
};

/**
 * The body with every content in its place, and its events checked and upcast to the newest version.
 *
 * @throws E_VERSION_NEEDED for an event that this version does not know; E_FRAME_INVALID for a wrong shape;
 *   E_CONTENT_MISSING if a content was not fetched.
 */
export const finishBody = (body: RawBody, fetched: FetchedContents): Body<StemmaEvent> => {
  const { events, binaries } = inPlace(body, fetched);
  const checked = checkEvents(upcast(body.v, events), false, binaries);
  const { author, command, digest, at, branchId } = body;
  return { ...author, command, digest, at, branchId, events: checked };
};

const inPlace = (
  body: RawBody,
  fetched: FetchedContents,
): { events: readonly RawEvent[]; binaries: number } => {
  const give = (ref: ContentRef): Uint8Array => {
    const bytes = fetched(ref);
    if (bytes?.length === ref.size) return bytes;
    throw fail('E_CONTENT_MISSING', `the content ${ref.sha256} is missing`, { sha256: ref.sha256 });
  };
  if (body.refs === 0 && !(body.events instanceof ContentRef))
    return { events: body.events, binaries: body.binaries };
  const { events, binaries } =
    body.events instanceof ContentRef
      ? addBinaries(unpackEvents(give(body.events)), body.binaries)
      : { events: body.events, binaries: body.binaries };
  if (refsIn(events).length === 0) return { events, binaries };
  // Equal references share one decoded value: a frame can name one large content many times.
  const values = new Map<string, Packable>();
  const resolved = replaceValues(events, (value) => {
    if (!(value instanceof ContentRef)) return undefined;
    const known = values.get(value.sha256) ?? contentOf(give(value));
    values.set(value.sha256, known);
    return known;
  });
  return { events: resolved, binaries };
};

const addBinaries = <T extends { binaries: number }>(read: T, more: number): T => ({
  ...read,
  binaries: read.binaries + more,
});

const contentOf = (bytes: Uint8Array): Packable => {
  const { value, end, refs, binaries } = unpackFrom(bytes, 0);
  if (end !== bytes.length || refs + binaries > 0) throw invalid('a content is not JSON');
  return value;
};

const invalid = (why: string): Error => fail('E_FRAME_INVALID', `a frame cannot be read: ${why}`);

/** True for errors that make a history defective at a frame (record §2); all other errors stop the reader. */
export const isDefect = (error: unknown): boolean =>
  isStemmaError(error, 'E_FRAME_INVALID') ||
  isStemmaError(error, 'E_HISTORY_DEFECTIVE') ||
  isStemmaError(error, 'E_HISTORY_ERASED') ||
  isStemmaError(error, 'E_HISTORY_SEALED') ||
  isStemmaError(error, 'E_CONTENT_MISSING') ||
  isStemmaError(error, 'E_CONTENT_DAMAGED');
