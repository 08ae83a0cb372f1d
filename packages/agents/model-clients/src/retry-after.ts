import type { Exchanged } from './exchange.ts';

/** Statuses after which another try may be answered. */
const WORTH: ReadonlySet<number> = new Set([408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529]);

/** Codes of errors that no later try mends, whatever their status is. */
const FINAL: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'billing_error',
  'billing_hard_limit_reached',
]);

/** Whether another try may help, and how many milliseconds the server asks to wait; a date is one of this clock. */
export const retryOf = (
  { head, error, isSafe }: Exchanged,
  code: string | null,
  clock: () => number,
): { readonly after: number | null } | null => {
  if (error?.code === 'E_MIND_UNREACHABLE') return { after: null };
  // A server that is slow may have worked: what it did is paid for.
  if (error !== null) return error.code === 'E_MIND_TIMEOUT' && isSafe ? { after: null } : null;
  if (head === null || !WORTH.has(head.status) || FINAL.has(code ?? '')) return null;
  return { after: afterOf(head, clock) };
};

const afterOf = (
  { retryAfter, retryAfterMs }: NonNullable<Exchanged['head']>,
  clock: () => number,
): number | null => {
  if (retryAfterMs !== null && /^\d{1,9}(\.\d+)?$/.test(retryAfterMs)) return Math.ceil(Number(retryAfterMs));
  if (retryAfter === null) return null;
  if (/^\d{1,6}(\.\d+)?$/.test(retryAfter)) return Math.ceil(Number(retryAfter) * 1_000);
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? null : Math.max(0, at - clock());
};
