import {
  PayloadNeeded,
  threadIndexes,
  type EventRef,
  type FlatTree,
  type Headers,
  type Payload,
  type PayloadSource,
  type ThreadMode,
} from '@stemma/context-tree';
import type { Message, RecordedBlock } from './message.ts';
import { blocksToMessages } from './nodes-to-messages.ts';

/**
 * The message list of a snapshot as the chat completions API takes it, in the order of the provider thread. For an
 * imported conversation it equals, deeply, the messages that the call was shown (context-tree §9).
 *
 * @throws PayloadNeeded for all payloads that are missing at once.
 */
export const toOpenAIMessages = (
  tree: FlatTree,
  payloads: PayloadSource,
  mode: ThreadMode = 'full',
): Message[] => {
  const needed: EventRef[] = [];
  const read = (ref: EventRef | null | undefined): Payload => {
    if (ref === null || ref === undefined) return {};
    try {
      return payloads(ref);
    } catch (error) {
      if (!(error instanceof PayloadNeeded)) throw error;
      needed.push(...error.refs);
      return {};
    }
  };
  const blocks = threadIndexes(tree, mode).map((index): RecordedBlock => {
    const { id, role, kind } = tree.headers[index] as Headers;
    return {
      id,
      role: role === undefined ? (index < tree.seq ? 'system' : 'user') : role,
      kind: kind ?? null,
      payload: read(tree.payloads[index]),
    };
  });
  if (needed.length > 0) throw new PayloadNeeded(needed);
  return blocksToMessages(blocks);
};
