import { sha256, toHex, type WideJson } from '@stemma/canonical';
import { comparableMessage } from '@stemma/importers';

/** The hashes of a list of messages over a scope: calls of another scope have others, even with the same messages. */
export type PromptHashes = {
  /** Of the first n messages, for n from 0 on: 16 bytes each. */
  readonly lists: readonly Uint8Array[];
  /** Of each message: 8 bytes. */
  readonly messages: readonly Uint8Array[];
};

const utf8 = new TextEncoder();

/** Bytes that are kept of a hash. */
const OF_LIST = 16;
const OF_MESSAGE = 8;

/**
 * The hashes by which a call finds the one before it (calls §3): that of a message is over its comparable JSON, that of a
 * list over that of the list without its last message, and of that message.
 */
export const hashPrompt = (scope: string, messages: readonly WideJson[]): PromptHashes => {
  const seed = sha256(utf8.encode(`stemma prompt\n${scope}`));
  let list = seed;
  const hashes: PromptHashes & { lists: Uint8Array[]; messages: Uint8Array[] } = {
    lists: [seed.subarray(0, OF_LIST)],
    messages: [],
  };
  for (const message of messages) {
    const json = sha256(utf8.encode(comparableMessage(message)));
    list = sha256(Buffer.concat([list, json]));
    hashes.lists.push(list.subarray(0, OF_LIST));
    hashes.messages.push(sha256(Buffer.concat([seed, json])).subarray(0, OF_MESSAGE));
  }
  return hashes;
};

/** The hash of the whole list, and those of the messages with these indexes, as an event has them. */
export const promptOf = (
  { lists, messages }: PromptHashes,
  brought: Iterable<number>,
): { readonly list: string; readonly brings: string[] } => ({
  list: toHex(lists.at(-1) as Uint8Array),
  brings: [...new Set([...brought].map((index) => toHex(messages[index] as Uint8Array)))],
});
