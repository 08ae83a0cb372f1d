import type { BranchRef } from '@stemma/history-store';
import type { CallAttempt, CallAttempts, CallBody } from './attempts.ts';
import type { ProviderCall, ProviderCalls } from './provider-calls.ts';

/** A call with messages, or one without. Only the second has a method. */
export type AnyCall = CallAttempt | ProviderCall;

/** Calls of models and calls without messages together. */
export type AnyCalls = {
  /**
   * Those on a branch's ancestor path: calls of models in the order they were recorded, and among them, by the time at which each went
   * out, those without messages.
   */
  listAll(
    branch: BranchRef,
    page?: { readonly from?: number; readonly limit?: number },
  ): Promise<{ readonly calls: readonly AnyCall[]; readonly next: number | null }>;
  /** The bytes of a body on the wire. @throws E_CALL_NOT_FOUND, E_CALL_BODY_NOT_KEPT, E_CALL_BODY_DAMAGED */
  bodyOfAny(history: string, attemptId: string, which: CallBody): Promise<Uint8Array>;
};

export const openAnyCalls = (calls: CallAttempts, others: ProviderCalls): AnyCalls => ({
  async listAll(branch, { from = 0, limit = 1_000 } = {}) {
    const { attempts, next } = await calls.list(branch, { from, limit });
    const { calls: more, next: nextOther } = await others.providerCalls(branch, { from, limit });
    // What is behind the page of the one may be before that of the other.
    const end = Math.min(next ?? Infinity, nextOther ?? Infinity);
    const all = [...attempts, ...more].filter((call) => frameOf(call) < end);
    const frames = all.map(frameOf).sort((a, b) => a - b);
    const until = frames[limit] ?? end;
    const isIn = (call: AnyCall): boolean => frameOf(call) < until;
    return {
      calls: merged(attempts.filter(isIn), more.filter(isIn)),
      next: until === Infinity ? null : until,
    };
  },
  async bodyOfAny(history, attemptId, which) {
    const found = await others.findProviderCall(history, attemptId);
    if (found === undefined) return calls.body(history, attemptId, which);
    // Nobody changes it: it went out as it came.
    return others.providerCallBody(history, attemptId, which === 'response' ? 'response' : 'request');
  },
});

/** The frame that recorded a call, or its start. */
const frameOf = (call: AnyCall): number => ('method' in call ? call.seq : call.frame);

/** Calls without messages stand before the first call that went out after them. */
const merged = (attempts: readonly CallAttempt[], others: readonly ProviderCall[]): readonly AnyCall[] => {
  const waiting = [...others].sort((a, b) => a.at - b.at);
  const all: AnyCall[] = [];
  let next = 0;
  for (const attempt of attempts) {
    for (let other = waiting[next]; other !== undefined && other.at < attempt.at; other = waiting[++next])
      all.push(other);
    all.push(attempt);
  }
  return [...all, ...waiting.slice(next)];
};
