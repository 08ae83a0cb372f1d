import { threadParts, type ThreadPart } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { Projector } from '@stemma/projector';
import type { Origin, Position } from '../place.ts';
import { viewOf } from '../read.ts';
import { blockOrigins, type BlockOrigins } from './block-origins.ts';
import { openFrames, type EventPlace } from './origin.ts';
import type { Blame, BlamePart, ByteRange } from './types.ts';

/**
 * Every byte of the provider thread at a position, traced to the event that made it so (context-tree §4): of a block's
 * content the event that last set it; of its id, kind, role and punctuation the event that inserted it. A range asks for
 * some bytes only; its parts are cut to it.
 *
 * @throws E_USAGE for a range that is empty or begins behind the end
 */
export const blameThread = async (
  projector: Projector,
  position: Position,
  range?: ByteRange,
): Promise<Blame> => {
  const { tree, payloads, thread } = await viewOf(projector, position);
  const { text, parts } = threadParts(tree, payloads, thread);
  const { from, to } = within(text.length, range);
  const asked = parts.filter((part) => part.from < to && part.to > from);

  const frames = openFrames(projector, position.history);
  const originsOf = blockOrigins(projector, frames, position, tree);
  const found = new Map<number, BlockOrigins>();
  for (const { index } of asked)
    if (index !== null && !found.has(index)) found.set(index, await originsOf(index));

  const list: Origin[] = [];
  const numbers = new Map<string, number>();
  const numberOf = async (place: EventPlace): Promise<number> => {
    const key = `${place.seq}.${place.index}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    list.push(await frames.describe(place));
    numbers.set(key, list.length - 1);
    return list.length - 1;
  };
  const blamed: BlamePart[] = [];
  for (const part of asked) {
    const [start, end] = [Math.max(from, part.from), Math.min(to, part.to)];
    const block = part.index === null ? undefined : found.get(part.index);
    blamed.push({
      part: part.part,
      from: start,
      to: end,
      node: part.index === null ? null : (tree.ids[part.index] ?? null),
      origin: block === undefined ? null : await numberOf(placeIn(block, part)),
      text: text.slice(start, end),
    });
  }
  return { position, bytes: text.length, from, to, origins: list, parts: blamed };
};

const placeIn = (block: BlockOrigins, { part }: ThreadPart): EventPlace =>
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
