import { isJsonObject, parseWideJson, type WideJson, type WideJsonObject } from '@stemma/canonical';

/** What became of an exchange that was sent. */
export type SendOutcome =
  /** `warning`: why it is recorded elsewhere than it was asked. */
  | { readonly kind: 'recorded'; readonly warning: string | null }
  /** It cannot be recorded. `erased`: and nothing of it may be kept. */
  | { readonly kind: 'refused'; readonly reason: string; readonly erased: boolean }
  | { readonly kind: 'too large' }
  /** The target is away, busy, or none that takes exchanges: it may be one later. `isFault`: it fails, perhaps on this one alone. */
  | { readonly kind: 'away'; readonly reason: string; readonly isFault?: boolean };

/** Codes that speak of the server, not of the exchange. */
const OF_THE_SERVER: ReadonlySet<string> = new Set([
  'E_NOT_FOUND',
  'E_METHOD_NOT_ALLOWED',
  'E_NOT_ALLOWED',
  'E_USAGE',
  'E_INTERNAL',
  'E_CANCELLED',
]);

/** Codes of calls whose history was erased, or that no history can hold from which they could be erased. */
export const MUST_GO: ReadonlySet<string> = new Set(['E_HISTORY_ERASED', 'E_CALL_NOT_ERASABLE']);

/** What an answer of HTTP means. Anything that is not of the contract is a server of another kind or version. */
export const outcomeOf = (id: string, status: number, text: string): SendOutcome =>
  outcomeIn(id, status, objectIn(text));

/**
 * What an answer to several means: an outcome for each, as far as the server got. Empty: it takes one at a time, as older ones do.
 */
export const outcomesOf = (ids: readonly string[], status: number, text: string): readonly SendOutcome[] => {
  const whole = objectIn(text);
  const results = whole?.['results'];
  if (status >= 500 || status === 429) return [outcomeIn('', status, whole)];
  if (status !== 200 || !Array.isArray(results)) return [];
  return ids.slice(0, results.length).map((id, i) => {
    const result = (results as readonly WideJson[])[i];
    if (!isJsonObject(result) || result['id'] !== id)
      return { kind: 'away', reason: 'it answers another call' };
    const { answer, error = null } = result;
    return outcomeIn(id, Number(result['status']), isJsonObject(answer) ? answer : { error });
  });
};

const outcomeIn = (id: string, status: number, answer: WideJsonObject | undefined): SendOutcome => {
  if (status === 413) return { kind: 'too large' };
  if (status === 200 && answer?.['attempt_id'] === id) {
    const { warning } = answer;
    return { kind: 'recorded', warning: typeof warning === 'string' ? warning.slice(0, 500) : null };
  }
  const error = answer?.['error'];
  if (!isJsonObject(error) || typeof error['code'] !== 'string' || !error['code'].startsWith('E_'))
    return { kind: 'away', reason: `it answers ${status}, as no gateway of this version does` };
  const { code, message } = error;
  const reason = `${typeof message === 'string' ? message.slice(0, 500) : 'refused'} (${code})`;
  if (status >= 500 || status === 429 || OF_THE_SERVER.has(code))
    return { kind: 'away', reason, isFault: code === 'E_INTERNAL' };
  return { kind: 'refused', reason, erased: MUST_GO.has(code) };
};

const objectIn = (text: string): WideJsonObject | undefined => {
  try {
    const value = parseWideJson(text, 'the answer');
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};
