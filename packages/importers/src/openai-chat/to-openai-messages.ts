import {
  roleOf,
  threadIndexes,
  type EventRef,
  type FlatTree,
  type Headers,
  type Payload,
  type PayloadSource,
  type ThreadMode,
} from '@stemma/context-tree';
import { collect } from '@stemma/suspend';
import type { ChatMessage, RecordedBlock } from './message.ts';
import { blocksToMessages } from './nodes-to-messages.ts';

/**
 * The message list of a snapshot for the chat completions API, in the order of the provider thread. For an imported
 * conversation it deeply equals the messages of the call (context-tree §9).
 *
 * @throws Missing (payloads) for all payloads that are missing at once.
 */
export const toOpenAIMessages = (
  tree: FlatTree,
  payloads: PayloadSource,
  mode: ThreadMode = 'full',
): ChatMessage[] => {
  const read = (ref: EventRef | null | undefined): Payload =>
    ref === null || ref === undefined ? {} : payloads(ref);
  const blocks = collect((attempt) =>
    threadIndexes(tree, mode).map((index): RecordedBlock => {
      const headers = tree.headers[index] as Headers;
      return {
        id: headers.id,
        role: roleOf(headers, index < tree.seq),
        kind: headers.kind ?? null,
        payload: attempt(read, tree.payloads[index], {}),
      };
    }),
  );
  return blocksToMessages(blocks);
};
