import { sha256Hex } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import type { Home } from '@stemma/home';
import type { ProviderCall } from '@stemma/queries';
import type { AskedCall, CallReply } from './served-calls.ts';

type Reply = Extract<CallReply, { readonly kind: 'served' }>;

/**
 * Answers calls without messages with the recorded ones that asked the same bytes of the same path, each once and in their order: what was
 * answered 429 first and then well is answered so again.
 */
export type ServedProviderCalls = {
  /** Undefined: none that is recorded stands for it, or its answer is not kept. */
  readonly reply: (call: Pick<AskedCall, 'method' | 'path' | 'body'>) => Promise<Reply | undefined>;
};

export const serveProviderCalls = (
  home: Pick<Home, 'calls'>,
  recorded: readonly ProviderCall[],
): ServedProviderCalls => {
  const byAsked = new Map<string, ProviderCall[]>();
  for (const call of recorded) {
    if (call.httpStatus === null || call.request === null) continue;
    const key = keyOf(call.method, call.path ?? '', call.request.sha256);
    byAsked.set(key, [...(byAsked.get(key) ?? []), call]);
  }
  return {
    reply: async ({ method, path, body }) => {
      const call = byAsked.get(keyOf(method, path, sha256Hex(body)))?.shift();
      return call === undefined ? undefined : replyOf(home, call);
    },
  };
};

const keyOf = (method: string, path: string, sha256: string): string => `${method} ${path} ${sha256}`;

const replyOf = async (
  home: Pick<Home, 'calls'>,
  { history, attemptId, method, path, status, httpStatus, response, responseHead, retryAfter }: ProviderCall,
): Promise<Reply | undefined> => {
  const body = response === null ? new Uint8Array() : await bodyOf(home, history, attemptId);
  if (body === undefined || httpStatus === null) return undefined;
  return {
    kind: 'served',
    status: httpStatus,
    headers: {
      'x-stemma-rerun': `same ${method} ${path ?? ''}`,
      ...headerOf('content-type', responseHead.contentType),
      ...headerOf('content-encoding', responseHead.coding),
      ...headerOf('retry-after', retryAfter),
    },
    pieces: body.length === 0 ? [] : [body],
    isCut: status === 'cancelled',
  };
};

const bodyOf = async (
  home: Pick<Home, 'calls'>,
  history: string,
  attemptId: string,
): Promise<Uint8Array | undefined> => {
  try {
    return await home.calls.providerCallBody(history, attemptId, 'response');
  } catch (error) {
    if (isStemmaError(error, 'E_CALL_BODY_NOT_KEPT')) return undefined;
    throw error;
  }
};

const headerOf = (name: string, value: string | null): Readonly<Record<string, string>> =>
  value === null ? {} : { [name]: value };
