import { sameJson, sha256, toHex, type WideJson } from '@stemma/canonical';
import { hashOfSaid, messageHash, scopeSeed } from '@stemma/read-models';

/** The hashes of a list of messages over a scope: calls of another scope have others, even with the same messages. */
export type PromptHashes = {
  /** Of the first n messages, for n from 0 on: 16 bytes each. */
  readonly lists: readonly Uint8Array[];
  /** Of each message: 8 bytes. */
  readonly messages: readonly Uint8Array[];
  /** Those of the lists, whole: what the next one goes on from. */
  readonly whole: readonly Uint8Array[];
};

/** A list whose hashes are known. */
export type HashedPrompt = { readonly given: readonly WideJson[]; readonly hashes: PromptHashes };

/** Bytes that are kept of a hash. */
const OF_LIST = 16;

/**
 * The hashes by which a call finds the one before it (calls §3): that of a message is over its comparable JSON, that of a
 * list over that of the list without its last message, and of that message.
 *
 * @param known another list over the same scope: the hashes of what both begin with are taken from there
 */
export const hashPrompt = (
  scope: string,
  messages: readonly WideJson[],
  known?: HashedPrompt,
): PromptHashes => {
  const seed = scopeSeed(scope);
  const common = known === undefined ? 0 : commonLength(known.given, messages);
  const hashes = {
    lists: known?.hashes.lists.slice(0, common + 1) ?? [seed.slice(0, OF_LIST)],
    messages: known?.hashes.messages.slice(0, common) ?? [],
    whole: known?.hashes.whole.slice(0, common + 1) ?? [seed],
  };
  let list = hashes.whole[common] as Uint8Array;
  for (const message of messages.slice(common)) {
    const said = hashOfSaid(message);
    list = sha256(Buffer.concat([list, said]));
    hashes.whole.push(list);
    hashes.lists.push(list.slice(0, OF_LIST));
    hashes.messages.push(messageHash(seed, said));
  }
  return hashes;
};

const commonLength = (a: readonly WideJson[], b: readonly WideJson[]): number => {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && sameJson(a[at] as WideJson, b[at] as WideJson)) at++;
  return at;
};

/** The hash of the whole list, and those of the messages with these indexes, as an event has them. */
export const promptOf = (
  { lists, messages }: Pick<PromptHashes, 'lists' | 'messages'>,
  brought: Iterable<number>,
): { readonly list: string; readonly brings: string[] } => ({
  list: toHex(lists.at(-1) as Uint8Array),
  brings: [...new Set([...brought].map((index) => toHex(messages[index] as Uint8Array)))],
});
