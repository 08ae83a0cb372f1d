import { toWireJson } from '@stemma/api';
import { threadBytes } from '@stemma/context-tree';
import { toOpenAIMessages } from '@stemma/importers';
import { messagesFor } from '@stemma/model-apis';
import type { ContractAnswer } from '../answer.ts';
import { viewAt } from '../at.ts';

export const thread: ContractAnswer<'thread'> = async ({ home }, { provider, ...at }) => {
  const { tree, payloads, thread } = await viewAt(home, at);
  if (provider === undefined) return threadBytes(tree, payloads, thread);
  return toWireJson(messagesFor(provider, toOpenAIMessages(tree, payloads, thread)));
};
