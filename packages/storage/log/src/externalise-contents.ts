import {
  compareCodePoints,
  compareNumbers,
  ContentRef,
  pack,
  sha256Hex,
  type Packable,
} from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Bounds } from './bounds.ts';
import type { RawEvent } from './upcast.ts';

/** A content that must be in the store before the frame that names it is appended. */
export type StoredContent = { readonly ref: ContentRef; readonly bytes: Uint8Array };

/** The keys under which events hold nodes; only values in these may be moved out. */
const HOLDERS = ['node', 'payload', 'turn'] as const;

/** True for the attributes whose whole values may lie in the contents store (record §4). */
const mayMove = (attribute: string): boolean =>
  attribute === 'content' || attribute.startsWith('content_') || attribute.startsWith('data_');

type ContentLocation = { readonly index: number; readonly holder: string; readonly attribute: string };

/** Calls `visit` for each value that may lie in the contents store. */
const walkContents = (
  events: readonly RawEvent[],
  visit: (value: Packable, location: ContentLocation) => void,
): void => {
  events.forEach((event, index) => {
    for (const holder of HOLDERS) {
      const node = event[holder];
      if (!isMap(node)) continue;
      for (const attribute of Object.keys(node)) {
        if (mayMove(attribute)) visit(node[attribute] as Packable, { index, holder, attribute });
      }
    }
  });
};

/** True for a map in a frame: an event, or a node in an event. */
export const isMap = (value: unknown): value is RawEvent =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Uint8Array) &&
  !(value instanceof ContentRef);

/** The references in events, and the number of values that hold one. */
export const refsIn = (events: readonly RawEvent[]): readonly ContentRef[] => {
  const refs: ContentRef[] = [];
  walkContents(events, (value) => {
    if (value instanceof ContentRef) refs.push(value);
  });
  return refs;
};

/** The events with each value replaced for which `give` returns another. Unchanged parts are shared. */
export const replaceValues = (
  events: readonly RawEvent[],
  give: (value: Packable, location: ContentLocation) => Packable | undefined,
): readonly RawEvent[] => {
  const changed = [...events];
  walkContents(events, (value, location) => {
    const other = give(value, location);
    if (other === undefined) return;
    const event = changed[location.index] as RawEvent;
    const node = event[location.holder] as RawEvent;
    changed[location.index] = { ...event, [location.holder]: { ...node, [location.attribute]: other } };
  });
  return changed;
};

type Movable = ContentLocation & {
  readonly bytes: Uint8Array;
  readonly ref: ContentRef;
  readonly saves: number;
};

/**
 * The events with contents moved to the contents store until the frame is small enough (record §4): first contents
 * above 256 KiB; if the frame is then still above 900 KiB, others by size descending, event index and field path, equal
 * ones together; last the whole array of events. The same events give the same bytes on every log.
 *
 * @param size of the frame with all events in it, in bytes.
 * @throws E_CONTENT_TOO_LARGE above 64 MiB, E_FRAME_TOO_LARGE above 256 MiB in all.
 */
export const externaliseContents = (
  events: readonly RawEvent[],
  size: number,
  bounds: Bounds,
): { readonly events: readonly RawEvent[] | ContentRef; readonly contents: readonly StoredContent[] } => {
  // A frame of at most this size holds no larger content.
  if (size <= bounds.inline) return { events, contents: [] };
  // Smaller contents move only out of a frame that is too large.
  const movables = inOrder(events, bounds, size > bounds.frame ? 0 : bounds.inline);
  const savings = new Map<string, number>();
  for (const { ref, saves } of movables) savings.set(ref.sha256, (savings.get(ref.sha256) ?? 0) + saves);
  const moved = new Set<string>();
  let left = size;
  for (const { ref, saves } of movables) {
    const due = ref.size > bounds.inline || (left > bounds.frame && saves >= 0);
    if (!due || moved.has(ref.sha256)) continue;
    moved.add(ref.sha256);
    left -= savings.get(ref.sha256) ?? 0;
  }
  if (moved.size === 0 && left <= bounds.frame) return { events, contents: [] };
  return store(events, movables, moved, left, bounds);
};

/** Every value with more bytes than `least` that may move, the largest first. */
const inOrder = (events: readonly RawEvent[], bounds: Bounds, least: number): readonly Movable[] => {
  const movables: Movable[] = [];
  walkContents(events, (value, location) => {
    if (mostBytes(value) <= least) return;
    const bytes = pack(value);
    if (bytes.length <= least) return;
    if (bytes.length > bounds.content) {
      throw fail('E_CONTENT_TOO_LARGE', `a content has ${bytes.length} bytes, more than ${bounds.content}`, {
        bytes: bytes.length,
      });
    }
    const ref = new ContentRef(sha256Hex(bytes), bytes.length);
    movables.push({ ...location, bytes, ref, saves: bytes.length - pack(ref).length });
  });
  return movables.sort(
    (a, b) =>
      compareNumbers(b.ref.size, a.ref.size) ||
      compareNumbers(a.index, b.index) ||
      compareCodePoints(`${a.holder}.${a.attribute}`, `${b.holder}.${b.attribute}`),
  );
};

/** No fewer bytes than a value takes when it is packed: five for the length of a text, and three for each unit. */
const mostBytes = (value: Packable): number =>
  typeof value === 'string' ? 5 + 3 * value.length : typeof value === 'object' ? Infinity : 9;

const store = (
  events: readonly RawEvent[],
  movables: readonly Movable[],
  moved: ReadonlySet<string>,
  left: number,
  bounds: Bounds,
): { events: readonly RawEvent[] | ContentRef; contents: readonly StoredContent[] } => {
  const refs = new Map<string, ContentRef>();
  const contents = new Map<string, StoredContent>();
  for (const { index, holder, attribute, ref, bytes } of movables) {
    if (!moved.has(ref.sha256)) continue;
    refs.set(`${index}.${holder}.${attribute}`, ref);
    contents.set(ref.sha256, { ref, bytes });
  }
  const shorter = replaceValues(events, (_, { index, holder, attribute }) =>
    refs.get(`${index}.${holder}.${attribute}`),
  );
  const all = [...contents.values()];
  if (left <= bounds.frame) return { events: shorter, contents: refuseTotal(all, bounds) };
  const bytes = pack(shorter);
  if (bytes.length > bounds.content)
    throw fail(
      'E_FRAME_TOO_LARGE',
      `the events of one command have ${bytes.length} bytes, more than ${bounds.content}`,
    );
  const ref = new ContentRef(sha256Hex(bytes), bytes.length);
  return { events: ref, contents: refuseTotal([...all, { ref, bytes }], bounds) };
};

const refuseTotal = (contents: readonly StoredContent[], bounds: Bounds): readonly StoredContent[] => {
  const total = contents.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (total > bounds.contents)
    throw fail(
      'E_FRAME_TOO_LARGE',
      `the contents of one command have ${total} bytes, more than ${bounds.contents}`,
    );
  return contents;
};
