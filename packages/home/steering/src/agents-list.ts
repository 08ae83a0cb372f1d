import type { WideJsonObject } from '@stemma/canonical';
import { isSealedCore, roleOf, threadIndexes, type Headers } from '@stemma/context-tree';
import type { TreeView } from '@stemma/history-store';
import type { CurrentBlock } from '@stemma/importers';
import type { ObserverEdits } from './observer-edits.ts';

/** A block of the thread, or one that an observer removed from it. */
export type SteeredBlock = CurrentBlock & {
  readonly headers: Headers;
  /** The frame that gave it the content that it has. */
  readonly seq: number;
  /** As its recorder had it; the same as `payload` unless an observer replaced it. */
  readonly original: WideJsonObject;
  /** What an observer did to it, in the frame `by`; null: nothing. `inserted`: it is not the agent's. */
  readonly change: { readonly what: 'inserted' | 'replaced' | 'removed'; readonly by: number } | null;
  /** True for the core of a sealed turn, which nobody removes. */
  readonly isSealedCore: boolean;
};

/**
 * The blocks of a thread in order, and where they would be, those that observers removed. What a recorder brought is the
 * agent's: it notes the message that a block is of.
 */
export const threadBlocks = async (view: TreeView, edits: ObserverEdits): Promise<SteeredBlock[]> => {
  const { tree, payloads, thread } = view;
  const blocks: SteeredBlock[] = [];
  for (const index of threadIndexes(tree, thread)) {
    const headers = tree.headers[index] as Headers;
    const ref = tree.payloads[index] ?? null;
    const payload = ref === null ? {} : payloads(ref);
    const inSys = index < tree.seq;
    const seq = ref?.seq ?? 0;
    const isReplaced = isOfAgent(payload) && edits.replaces(seq, headers.id);
    blocks.push({
      id: headers.id,
      role: roleOf(headers, inSys),
      kind: headers.kind ?? null,
      payload,
      inSys,
      headers,
      seq,
      original: isReplaced ? ((await edits.original(headers.id))?.payload ?? payload) : payload,
      change: !isOfAgent(payload)
        ? { what: 'inserted', by: seq }
        : isReplaced
          ? { what: 'replaced', by: seq }
          : null,
      isSealedCore: isSealedCore(tree, index),
    });
  }
  const sys = tree.ids[tree.sys];
  for (const [id, by] of edits.removed) {
    if (tree.indexOf(id) !== undefined) continue;
    const found = await edits.original(id);
    if (found === undefined || !isOfAgent(found.payload)) continue;
    const { headers, payload } = found;
    const inSys = found.parent === sys;
    insertInOrder(blocks, {
      id,
      role: roleOf(headers, inSys),
      kind: headers.kind ?? null,
      payload,
      inSys,
      headers,
      seq: by,
      original: payload,
      change: { what: 'removed', by },
      isSealedCore: false,
    });
  }
  return blocks;
};

const isOfAgent = (payload: WideJsonObject): boolean =>
  payload['data_message'] !== undefined || payload['data_continues'] !== undefined;

/** Blocks came in the order of their cycles, and in a turn in that of their offsets and times. */
const insertInOrder = (blocks: SteeredBlock[], block: SteeredBlock): void => {
  // Where observers' own blocks stand says nothing about the agent's.
  const at = blocks.findIndex((other) =>
    other.inSys === block.inSys
      ? other.change?.what !== 'inserted' && comesAfter(other.headers, block.headers)
      : block.inSys,
  );
  blocks.splice(at === -1 ? blocks.length : at, 0, block);
};

const comesAfter = (a: Headers, b: Headers): boolean => {
  const order =
    a.cycle - b.cycle ||
    a.offset - b.offset ||
    Number(a.created_at_ns - b.created_at_ns) ||
    a.creation_index - b.creation_index;
  return order > 0;
};
