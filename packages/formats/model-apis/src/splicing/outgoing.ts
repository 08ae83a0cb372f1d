import type { WideJsonObject } from '@stemma/canonical';

/**
 * A message of a request that goes out: that of the request which came, by its index, or a new one in the form of OpenAI's
 * chat API. `system`: it is part of the system prompt.
 */
export type OutgoingMessage =
  { readonly keep: number } | { readonly write: WideJsonObject; readonly system: boolean };

/** Where a message is in a body: a whole field, or items of a list, of which the last may be some blocks of one item. */
export type MessageLocation = {
  readonly field: 'list' | 'system';
  /** Null: the field is the message. */
  readonly items: readonly [from: number, to: number] | null;
  /** Null: all of the item. */
  readonly blocks: readonly [from: number, to: number] | null;
};
