import { joinBytes } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { apiOf } from '@stemma/model-apis';
import type { CallReply, ServedCalls } from '@stemma/reruns';
import { defined } from '@stemma/values';
import { errorAnswer } from '../front/error-answer.ts';
import type { StartedEntry } from './entry.ts';
import type { CallNotes, RequestToSend } from './exchange-notes.ts';
import type { CallNoter } from './note-calls.ts';
import { isProviderCall } from './provider-call.ts';

/** What a rerun says to a request that is no call of a model, and that nothing recorded answers. */
export const unknownRequest = (method: string, path: string): Error =>
  fail(
    'E_NOT_FOUND',
    `stemma rerun: ${method} ${path.slice(0, 200)} is no call of a model, and nothing recorded answers it`,
  );

const unknownReply = (
  method: string,
  path: string,
): Extract<RequestToSend, { readonly kind: 'served' }>['reply'] => {
  const { status, headers, body } = errorAnswer(unknownRequest(method, path));
  const pieces = [new TextEncoder().encode(String(body))];
  return { kind: 'served', status, headers: { ...headers, 'x-should-retry': 'false' }, pieces, isCut: false };
};

/**
 * What becomes of a call of a rerun: something recorded answers it, and nothing of it is recorded; or it goes to a provider, perhaps
 * changed, and is recorded on the branch that `served` names.
 */
export const rerunNotes = (served: ServedCalls, { started, given, ended, steer }: CallNoter): CallNotes => {
  let live: number | undefined;
  const sendLive = async (
    { number, place, change, to }: Extract<CallReply, { kind: 'live' }>,
    entry: StartedEntry,
    body: readonly Uint8Array[],
    gone: AbortSignal,
  ): Promise<RequestToSend> => {
    live = number;
    const went = to === undefined ? {} : { origin: to.url.origin, path: to.url.pathname };
    const placed = { ...entry, ...went, place: { name: place } };
    if (change === undefined) {
      await started({ ...placed, sentAt: Date.now() }, body);
      return { kind: 'send', body: null };
    }
    const outcome = await steer(placed, body, gone, change);
    return outcome.kind === 'send' ? { ...outcome, ...defined({ to }) } : outcome;
  };
  return {
    isClosed: true,
    started: () => undefined,
    given,
    steer: async (entry, body, gone) => {
      const { method, path, coding } = entry;
      if (isProviderCall(entry)) {
        const recorded = await served.replyToProviderCall({ method, path, body: joinBytes(body) });
        if (recorded !== undefined) return { kind: 'served', reply: recorded };
        if (served.passes(method, path)) return { kind: 'send', body: null };
        return { kind: 'served', reply: unknownReply(method, path) };
      }
      const reply = await served.reply({
        ...{ api: apiOf(method, path), method, path, coding },
        body: joinBytes(body),
      });
      return reply.kind === 'served' ? { kind: 'served', reply } : sendLive(reply, entry, body, gone);
    },
    ended: async (entry, body) => {
      if (live === undefined) return;
      await ended(entry, body);
      const { method, path, httpStatus, contentType, coding } = entry;
      const api = apiOf(method, path);
      await served.liveEnded(live, { api, httpStatus, contentType, coding, body: joinBytes(body) });
    },
  };
};
