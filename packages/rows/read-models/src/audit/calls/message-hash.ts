import { sha256, type WideJson } from '@stemma/canonical';
import { comparableMessage } from '@stemma/model-apis';

const utf8 = new TextEncoder();

/** Bytes that are kept of the hash of a message. */
const KEPT = 8;

/** What the hashes of calls begin with that are looked for in one scope (calls §3): 32 bytes. */
export const scopeSeed = (scope: string): Uint8Array => sha256(utf8.encode(`stemma prompt\n${scope}`));

/** SHA-256 of what a message says, in whichever form. */
export const hashOfSaid = (message: WideJson): Uint8Array => sha256(utf8.encode(comparableMessage(message)));

/** The hash of a message over a scope, by which calls that have it are found: 8 bytes. @param said {@link hashOfSaid} */
export const messageHash = (seed: Uint8Array, said: Uint8Array): Uint8Array =>
  sha256(Buffer.concat([seed, said])).slice(0, KEPT);

/** The hashes of the choices of an answer, one behind the other; null: there are none. */
export const answerHashes = (
  scope: string,
  payload: { readonly [name: string]: unknown },
): Uint8Array | null => {
  const choices = [payload['data_answer'], payload['data_choices']].flat() as (WideJson | null | undefined)[];
  const said = choices.filter((choice) => choice !== null && choice !== undefined);
  if (said.length === 0) return null;
  const seed = scopeSeed(scope);
  return Buffer.concat(said.map((choice) => messageHash(seed, hashOfSaid(choice))));
};

/** The hashes that {@link answerHashes} joined. */
export const eachHash = (joined: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: joined.length / KEPT }, (_, i) => joined.slice(i * KEPT, (i + 1) * KEPT));

/** The hash of a text that somebody may be asked, over a scope: 8 bytes. */
export const askedHash = (scope: string, text: string): Uint8Array =>
  messageHash(scopeSeed(scope), sha256(utf8.encode(text)));
