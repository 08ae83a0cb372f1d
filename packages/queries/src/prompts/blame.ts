import { threadIndexes, threadParts, type EventRef, type ThreadPart } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { payloadIn } from '@stemma/history';
import type { Position } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import { treeAt } from '../read.ts';
import { blockOrigins, type BlockOrigins } from './block-origins.ts';
import { openFrames, placeKey, type EventPlace } from './origin.ts';
import type { Blame, BlamePart, ByteRange } from './types.ts';

/**
 * Every byte of the provider thread at a position, traced to the event that made it so (context-tree §4): of a block's
 * content the event that last set it; of its id, kind, role and punctuation the event that inserted it. A range asks for
 * some bytes only; its parts are cut to it. Each frame that a message comes from is read once; rows, in one read for all
 * blocks, only of blocks that were changed or have no role of their own.
 *
 * @throws E_USAGE for a range that is empty or begins behind the end
 */
export const blameThread = async (
  projector: ServedRows,
  position: Position,
  range?: ByteRange,
): Promise<Blame> => {
  const { tree, thread } = await treeAt(projector, position);
  const frames = openFrames(projector, position.history);
  const eventAt = await frames.held(
    threadIndexes(tree, thread).flatMap((index) => tree.payloads[index]?.seq ?? []),
  );
  const source = (ref: EventRef) => payloadIn(eventAt(ref));
  const { text, parts } = threadParts(tree, source, thread);
  const { from, to } = within(text.length, range);
  const asked = parts.filter((part) => part.from < to && part.to > from);

  const indexes = new Set(asked.flatMap(({ index }) => index ?? []));
  const blocks = await blockOrigins(projector, frames, position, tree, [...indexes]);
  const placeOf = ({ part, index }: ThreadPart): EventPlace | undefined => {
    const block = index === null ? undefined : blocks.get(index);
    return block === undefined ? undefined : placeIn(block, part);
  };
  const places = new Map<string, EventPlace>();
  for (const part of asked) {
    const place = placeOf(part);
    if (place !== undefined) places.set(placeKey(place), place);
  }
  const numbers = new Map([...places.keys()].map((key, number) => [key, number]));
  const blamed = asked.map((part): BlamePart => {
    const [start, end] = [Math.max(from, part.from), Math.min(to, part.to)];
    const place = placeOf(part);
    return {
      part: part.part,
      from: start,
      to: end,
      node: part.index === null ? null : (tree.ids[part.index] ?? null),
      origin: place === undefined ? null : (numbers.get(placeKey(place)) ?? null),
      text: text.slice(start, end),
    };
  });
  const origins = await frames.describe([...places.values()]);
  return { position, bytes: text.length, from, to, origins, parts: blamed };
};

const placeIn = (block: BlockOrigins, part: ThreadPart['part']): EventPlace =>
  part === 'content' ? block.content : part === 'role' ? block.role : block.entered;

const within = (bytes: number, range: ByteRange | undefined): ByteRange => {
  if (range === undefined) return { from: 0, to: bytes };
  const { from, to } = range;
  if (from < 0 || to <= from)
    throw fail('E_USAGE', `bytes ${from}-${to} are none: give the first and the one behind the last`);
  if (from >= bytes)
    throw fail('E_USAGE', `the thread has ${bytes} bytes: there is no byte ${from}`, { bytes });
  return { from, to: Math.min(to, bytes) };
};

/** A range as people write it: `120-480` are the bytes 120 to 479, `120-` all from there. @throws E_USAGE */
export const parseByteRange = (text: string): ByteRange => {
  const found = /^(\d{1,15})-(\d{0,15})$/.exec(text);
  if (found === null)
    throw fail('E_USAGE', `bytes are asked for as 120-480 or 120-, not ${JSON.stringify(text.slice(0, 60))}`);
  return {
    from: Number(found[1]),
    to: found[2] === '' ? Number.MAX_SAFE_INTEGER : Number(found[2]),
  };
};
