import type { UnkeptBody } from '@stemma/call-bodies';
import { joinBytes } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import type { CallApi } from '@stemma/events';
import { redactMessages } from '@stemma/importers';
import {
  awsMessage,
  awsMessages,
  comparableMessage,
  framingOfAnswer,
  READ_APIS,
  readAnswer,
  readRequest,
  type ReadApi,
} from '@stemma/model-apis';
import type { Redactor } from '@stemma/redaction';

type Given = Uint8Array | UnkeptBody;

/**
 * A request without secrets; null if nobody can say what is in it: it is no text, or the rules are about the attributes of nodes,
 * or a function of the user's, which bytes have not. Nor is one kept whose messages, when they are read, still have a secret: it is
 * cut in a way that only their reader sees. The hash of one that had secrets says too much.
 *
 * @param plain the body without its content codings: what is redacted is kept so
 */
export const redactedRequest = async <B extends Given>(
  body: B,
  api: CallApi,
  redactor: Redactor | undefined,
  plain: Uint8Array | null | undefined,
): Promise<B | Uint8Array | null> => {
  const done = redactedBody(body, redactor, plain);
  if (redactor === undefined || !(done instanceof Uint8Array)) return done;
  const read = readRequest(api, done);
  if (!read.ok) return done;
  try {
    const { found } = await redactMessages(read.messages, (nodes) => redactor.nodes(nodes));
    return found.every((each) => each.length === 0) ? done : null;
  } catch {
    return null;
  }
};

/** As {@link redactedRequest}, of an answer in any API: which one it is of is not known where its end is recorded. */
export const redactedResponse = <B extends Given>(
  body: B,
  redactor: Redactor | undefined,
  plain: Uint8Array | null | undefined,
): B | Uint8Array | null => {
  const done = redactedBody(body, redactor, plain);
  if (redactor === undefined || !(done instanceof Uint8Array)) return done;
  return READ_APIS.every((api) => saysNoSecret(done, api, redactor)) ? done : null;
};

const saysNoSecret = (body: Uint8Array, api: ReadApi, redactor: Redactor): boolean => {
  const { answer } = readAnswer(api, { status: 200, contentType: null }, body);
  return answer === null || redactor.value(answer) === answer;
};

const redactedBody = <B extends Given>(
  body: B,
  redactor: Redactor | undefined,
  plain: Uint8Array | null | undefined,
): B | Uint8Array | null => {
  if (redactor === undefined) return body;
  if (!(body instanceof Uint8Array) || plain === null || !redactor.coversTexts) return null;
  const bytes = plain ?? body;
  if (framingOfAnswer('bedrock.converse', null, bytes) === 'aws') return redactedMessages(bytes, redactor);
  const text = textOf(bytes);
  if (text === undefined) return null;
  const done = redactor.body(text);
  if (done === null) return null;
  return done === text && Buffer.byteLength(text) === bytes.length ? bytes : Buffer.from(done);
};

/**
 * The messages of AWS's event stream without secrets in their payloads; null if one is damaged or cut off, if a chunk has one in its
 * base64, or if one was cut over several.
 */
const redactedMessages = (bytes: Uint8Array, redactor: Redactor): Uint8Array | null => {
  try {
    const messages = [...awsMessages(bytes)];
    const done = messages.map(({ bytes: whole, headers, payload }) => {
      const text = textOf(payload);
      const [, chunk = ''] = CHUNK.exec(text ?? '') ?? [];
      const said = Buffer.from(chunk, 'base64').toString();
      const plain = text === undefined || redactor.body(said) !== said ? null : redactor.body(text);
      if (plain === null) return null;
      return plain === text ? whole : awsMessage({ headers, payload: Buffer.from(plain) });
    });
    const size = messages.reduce((sum, { bytes: whole }) => sum + whole.length, 0);
    const kept = done.filter((each) => each !== null);
    if (kept.length < done.length || size < bytes.length) return null;
    const whole = joinBytes(kept);
    return READ_APIS.every((api) => saysSameWithout(bytes, whole, api, redactor)) ? whole : null;
  } catch (error) {
    if (isStemmaError(error)) return null;
    throw error;
  }
};

/** True if a body says what another one does without its secrets. */
const saysSameWithout = (
  bytes: Uint8Array,
  redacted: Uint8Array,
  api: ReadApi,
  redactor: Redactor,
): boolean => {
  const [before, after] = [bytes, redacted].map(
    (body) => readAnswer(api, { status: 200, contentType: null }, body).answer,
  );
  if (before == null || after == null) return before === after;
  return comparableMessage(redactor.value(before)) === comparableMessage(after);
};

/** The base64 of a chunk. */
const CHUNK = /^\{\s*"bytes"\s*:\s*"([A-Za-z0-9+/=]+)/;

/** The most bytes of a character that the end of an answer cuts in two. */
const MOST_CUT = 3;

/** The text of bytes, without a character that their end cuts in two; undefined if they are none. */
const textOf = (bytes: Uint8Array): string | undefined => {
  for (let cut = 0; cut <= Math.min(MOST_CUT, bytes.length); cut++)
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
        bytes.subarray(0, bytes.length - cut),
      );
    } catch {
      // A shorter one may be a text.
    }
  return undefined;
};
