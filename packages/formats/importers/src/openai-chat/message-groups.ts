import type { RecordedBlock } from './message.ts';

/**
 * The blocks of each message: an importer or recorder recorded which blocks continue another; any other block is a
 * message of its own.
 */
export const messageGroups = <Block extends RecordedBlock>(blocks: readonly Block[]): Block[][] => {
  const groups: Block[][] = [];
  for (const block of blocks) {
    const last = groups.at(-1);
    const note = last?.[0]?.payload['data_message'] as { readonly ordinal?: unknown } | undefined;
    const on = block.payload['data_continues'];
    if (last !== undefined && on !== undefined && note?.ordinal === on) last.push(block);
    else groups.push([block]);
  }
  return groups;
};
