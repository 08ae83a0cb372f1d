import { sha256Hex } from '@stemma/canonical';
import { threadBytes } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { TreeView } from '@stemma/history-store';
import { toOpenAIMessages } from '@stemma/importers';

/** The bytes of the provider thread at a position: canonical JSON, ASCII. */
export const threadText = ({ tree, payloads, thread }: TreeView): string =>
  threadBytes(tree, payloads, thread);

/** SHA-256 (hex) of the provider thread's bytes. */
export const threadSha256 = (view: TreeView): string => sha256Hex(threadText(view));

const PROVIDERS = {
  openai: (view: TreeView): unknown => toOpenAIMessages(view.tree, view.payloads, view.thread),
};

/** The message list as a provider's API takes it. @throws E_USAGE for a provider that is not known. */
const providerMessages = (view: TreeView, provider: string): unknown => {
  if (!Object.hasOwn(PROVIDERS, provider))
    throw fail(
      'E_USAGE',
      `--provider must be one of ${Object.keys(PROVIDERS).join(', ')}, not ${JSON.stringify(provider)}`,
    );
  return PROVIDERS[provider as keyof typeof PROVIDERS](view);
};

/** The message list as JSON text: what a message holds is JSON, without large integers. */
export const providerText = (view: TreeView, provider: string): string =>
  JSON.stringify(providerMessages(view, provider));
