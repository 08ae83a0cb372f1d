import type { ExchangeRequest } from '@stemma/api';
import { joinBytes } from '@stemma/canonical';

/** The bytes of a body, as the contract has them; null: they are not kept. */
export type SentBody = Extract<ExchangeRequest['request'], { form: 'wire' }>['body'];

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @param redact takes secrets out of a text. Bytes that are none are then not kept: nobody can say what they hold (calls §2.4) */
export const sentBody = (
  pieces: readonly Uint8Array[] | string | null,
  redact: ((text: string) => string) | undefined,
): SentBody => {
  if (pieces === null) return null;
  if (typeof pieces === 'string' && pieces.isWellFormed()) return { text: redact?.(pieces) ?? pieces };
  const bytes = typeof pieces === 'string' ? new TextEncoder().encode(pieces) : joinBytes(pieces);
  try {
    const text = utf8.decode(bytes);
    return { text: redact?.(text) ?? text };
  } catch {
    return redact === undefined ? { base64: base64Of(bytes) } : null;
  }
};

/** So many bytes at a time, a multiple of three: a function takes only so many arguments. */
const CHUNK = 24_576;

const base64Of = (bytes: Uint8Array): string => {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHUNK)
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + CHUNK)));
  return text;
};
