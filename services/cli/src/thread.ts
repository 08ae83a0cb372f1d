import type { WideJsonObject } from '@stemma/canonical';
import { threadBytes } from '@stemma/context-tree';
import type { TreeView } from '@stemma/history-store';
import { toOpenAIMessages } from '@stemma/importers';
import type { CallPrompt } from '@stemma/queries';
import { createHash, type Hash } from 'node:crypto';

/** The bytes of the provider thread at a position: canonical JSON, ASCII. */
export const threadText = ({ tree, payloads, thread }: TreeView): string =>
  threadBytes(tree, payloads, thread);

/**
 * SHA-256 (hex) of the provider threads of calls, one after another: a call costs the messages that follow what it shares
 * with the one before.
 */
export const openThreadHashes = (): ((call: Pick<CallPrompt, 'shared' | 'following'>) => string) => {
  /** The hash of the list's bytes before each message, and after the last. */
  const states = [createHash('sha256').update('[')];
  return ({ shared, following }) => {
    states.length = shared + 1;
    for (const message of following) {
      const before = states.at(-1) as Hash;
      states.push(before.copy().update(states.length === 1 ? message : `,${message}`));
    }
    return (states.at(-1) as Hash).copy().update(']').digest('hex');
  };
};

/** The messages at a position, in the form of OpenAI's chat API. */
export const chatMessages = ({ tree, payloads, thread }: TreeView): readonly WideJsonObject[] =>
  toOpenAIMessages(tree, payloads, thread);
