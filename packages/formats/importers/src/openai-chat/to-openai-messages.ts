import type { FlatTree, PayloadSource, ThreadMode } from '@stemma/context-tree';
import type { ChatMessage } from './message.ts';
import { blocksToMessages } from './nodes-to-messages.ts';
import { threadBlocks } from './thread-blocks.ts';

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
): ChatMessage[] => blocksToMessages(threadBlocks(tree, payloads, mode));
