import type { ThreadPart } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { openThreadReader } from '../threads/thread-part.ts';
import { findBlockOrigins, type BlockOrigins } from './block-origins.ts';
import { eventKey, openFrames, type EventLocation } from './origin.ts';
import type { Blame, BlamePart, ByteRange } from './types.ts';

/**
 * Every byte of the provider thread at a position, traced to the event that wrote it (context-tree §4): a block's
 * content to the event that last set it; its id, kind, role and punctuation to the event that inserted it. With a
 * range, parts are cut to it, and of a thread that grows at its end only as much is read as lies before or after it, whichever is
 * less. Reads each frame of a message once, and rows, in one read, only of blocks that were changed or have no role of their own.
 *
 * @throws E_USAGE for a range that is empty or begins after the end
 */
export const blameThread = async (
  projection: Projection,
  position: Position,
  range?: ByteRange,
): Promise<Blame> => {
  const frames = openFrames(projection, position.history);
  const thread = openThreadReader(projection, frames, position);
  const asked = range === undefined ? null : clampRange((await thread.length()) ?? Infinity, range);
  const { tree, text, start, parts, length } = await (asked === null ? thread.whole() : thread.range(asked));
  const { from, to } = clampRange(length, range);
  const askedParts = parts.filter((part) => part.from < to && part.to > from);

  const indexes = new Set(askedParts.flatMap(({ index }) => index ?? []));
  const blocks = await findBlockOrigins(projection, frames, position, tree, [...indexes]);
  const eventOf = ({ part, index }: ThreadPart): EventLocation | undefined => {
    const block = index === null ? undefined : blocks.get(index);
    return block === undefined ? undefined : eventIn(block, part);
  };
  const events = new Map<string, EventLocation>();
  for (const part of askedParts) {
    const event = eventOf(part);
    if (event !== undefined) events.set(eventKey(event), event);
  }
  const eventIndexes = new Map([...events.keys()].map((key, number) => [key, number]));
  const blamed = askedParts.map((part): BlamePart => {
    const [first, end] = [Math.max(from, part.from), Math.min(to, part.to)];
    const event = eventOf(part);
    return {
      part: part.part,
      from: first,
      to: end,
      node: part.index === null ? null : (tree.ids[part.index] ?? null),
      origin: event === undefined ? null : (eventIndexes.get(eventKey(event)) ?? null),
      text: text.slice(first - start, end - start),
    };
  });
  const origins = await frames.describe([...events.values()]);
  return { position, bytes: length, from, to, origins, parts: blamed };
};

const eventIn = (block: BlockOrigins, part: ThreadPart['part']): EventLocation =>
  part === 'content' ? block.content : part === 'role' ? block.role : block.entered;

const clampRange = (bytes: number, range: ByteRange | undefined): ByteRange => {
  if (range === undefined) return { from: 0, to: bytes };
  const { from, to } = range;
  if (from < 0 || to <= from)
    throw fail(
      'E_USAGE',
      `the byte range ${from}-${to} is empty: give the first byte and the one after the last`,
    );
  if (from >= bytes)
    throw fail('E_USAGE', `the thread has ${bytes} bytes: there is no byte ${from}`, { bytes });
  return { from, to: Math.min(to, bytes) };
};

/** The byte range in a text: `120-480` is the bytes 120 to 479, `120-` all from 120. @throws E_USAGE */
export const parseByteRange = (text: string): ByteRange => {
  const found = /^(\d{1,15})-(\d{0,15})$/.exec(text);
  if (found === null)
    throw fail('E_USAGE', `a byte range must be 120-480 or 120-, not ${JSON.stringify(text.slice(0, 60))}`);
  return {
    from: Number(found[1]),
    to: found[2] === '' ? Number.MAX_SAFE_INTEGER : Number(found[2]),
  };
};
