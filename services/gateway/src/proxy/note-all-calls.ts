import type { CallNoter } from './note-calls.ts';
import { isProviderCall } from './provider-call.ts';
import type { ProviderCallsToRecord } from './provider-calls-to-record.ts';

/** Notes calls with messages and those without. @param callBegan hears of the first kind that one has begun to go out */
export const noteAllCalls = (
  noter: CallNoter,
  providerCalls: ProviderCallsToRecord,
  callBegan: (() => void) | undefined,
): CallNoter => ({
  started: (entry, body) => {
    if (isProviderCall(entry)) return providerCalls.started(entry, body);
    providerCalls.conversationStarted(entry);
    const noted = noter.started(entry, body);
    callBegan?.();
    return noted;
  },
  given: (id, ...piece) =>
    isProviderCall({ id }) ? providerCalls.given(id, ...piece) : noter.given(id, ...piece),
  ended: (entry, body) =>
    isProviderCall(entry) ? providerCalls.ended(entry, body) : noter.ended(entry, body),
  steer: (...call) => {
    providerCalls.conversationStarted(call[0]);
    callBegan?.();
    return noter.steer(...call);
  },
});
