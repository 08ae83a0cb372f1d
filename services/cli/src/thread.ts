import type { WideJson } from '@stemma/canonical';
import { threadBytes } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
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

const PROVIDERS = {
  openai: (view: TreeView): readonly WideJson[] => toOpenAIMessages(view.tree, view.payloads, view.thread),
};

type Provider = keyof typeof PROVIDERS;

/** @throws E_USAGE for a provider that is not known */
export const knownProvider = (given: string | undefined): Provider | undefined => {
  if (given === undefined || Object.hasOwn(PROVIDERS, given)) return given as Provider | undefined;
  throw fail(
    'E_USAGE',
    `--provider must be one of ${Object.keys(PROVIDERS).join(', ')}, not ${JSON.stringify(given)}`,
  );
};

/** The message list as a provider's API takes it. @throws E_USAGE for a provider that is not known. */
export const providerMessages = (view: TreeView, provider: string): readonly WideJson[] =>
  PROVIDERS[knownProvider(provider) as Provider](view);

/** The message list as JSON text: what a message holds is JSON, without large integers. */
export const providerText = (view: TreeView, provider: string): string =>
  JSON.stringify(providerMessages(view, provider));
