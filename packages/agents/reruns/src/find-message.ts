import type { Author } from '@stemma/events';
import { branchRefOf } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { blocksToMessages, threadBlocks } from '@stemma/importers';
import type { RecordedLocation } from '@stemma/rerun';
import type { ReadRun } from './read-recording.ts';

/** Where a recording has a message, and who recorded it when. */
export type FoundMessage = RecordedLocation & {
  readonly node: string;
  /** The frame of that event: `@s4`. */
  readonly by: string;
  readonly author: Author;
  /** Milliseconds since 1970. */
  readonly at: number;
};

/**
 * The node that a message of a recorded call is, and the event that recorded it; undefined where the recording shows it as more or
 * fewer nodes.
 *
 * @param message its number, from 0
 */
export const findMessage = async (
  home: Pick<Home, 'position' | 'read' | 'queries'>,
  { calls }: Pick<ReadRun, 'calls'>,
  label: string,
  message: number,
): Promise<FoundMessage | undefined> => {
  const call = calls.get(label);
  if (call === undefined) return undefined;
  const position = await home.position(branchRefOf(call.history, call.branchId), `@s${call.seq}`);
  const { tree, payloads, thread } = await home.read.view(position);
  const node = nodeOf(threadBlocks(tree, payloads, thread), message);
  if (node === undefined) return undefined;
  const { added } = await home.queries.causes.why(position, node);
  return { node, by: `@s${added.seq}`, author: added.author, at: added.at };
};

/** The block with which a message begins: the shortest thread that has it ends there. */
const nodeOf = (blocks: ReturnType<typeof threadBlocks>, message: number): string | undefined => {
  let [less, enough] = [0, blocks.length + 1];
  while (enough - less > 1) {
    const size = (less + enough) >>> 1;
    if (blocksToMessages(blocks.slice(0, size)).length > message) enough = size;
    else less = size;
  }
  return blocks[enough - 1]?.id;
};
