import type { UnkeptBody } from '@stemma/call-bodies';
import type { CallApi } from '@stemma/events';
import { redactMessages } from '@stemma/importers';
import { READ_APIS, readAnswer, readRequest, type ReadApi } from '@stemma/model-apis';
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
  const text = textOf(bytes);
  if (text === undefined) return null;
  const done = redactor.body(text);
  if (done === null) return null;
  return done === text && Buffer.byteLength(text) === bytes.length ? bytes : Buffer.from(done);
};

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
