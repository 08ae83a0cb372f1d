import type { UnkeptBody } from '@stemma/calls';
import type { Redactor } from '@stemma/redaction';

/**
 * A body without secrets; null if nobody can say what is in it: it is no text, or the rules are about the attributes of nodes, or a
 * function of the user's, which bytes have not. The hash of one that had secrets says too much.
 */
export const redactedBody = <B extends Uint8Array | UnkeptBody>(
  body: B,
  redactor: Redactor | undefined,
): B | Uint8Array | null => {
  if (redactor === undefined) return body;
  if (!(body instanceof Uint8Array) || !redactor.coversTexts) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    const done = redactor.text(text);
    return done === text ? body : Buffer.from(done);
  } catch {
    return null;
  }
};
