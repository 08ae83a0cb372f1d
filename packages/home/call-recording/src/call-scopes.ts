import { scopeOfRun } from '@stemma/history';
import type { CallScope } from './record-request-types.ts';

/** True if a call is looked for in one history, and starts none. */
export const isInHistory = (
  within: CallScope | undefined,
): within is Extract<CallScope, { readonly history: string }> => within !== undefined && 'history' in within;

/** The history that a call is recorded beside. */
export const besideOf = (within: CallScope | undefined): string | undefined =>
  within !== undefined && 'beside' in within ? within.beside : undefined;

/** What the hashes of a call's messages are over (calls §3). */
export const scopeOf = (within: CallScope | undefined): string => {
  if (within === undefined) return 'all';
  if ('run' in within) return scopeOfRun(within.run);
  if ('beside' in within) return `history:${within.beside}`;
  return `history:${'branch' in within ? within.branch.history : within.history}`;
};
