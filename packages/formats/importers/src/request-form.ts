import type { WideJson, WideJsonObject } from '@stemma/canonical';

/** How the requests of an API hold a conversation. */
export type RequestForm = {
  /** The mapping with its version. */
  readonly mapping: string;
  /** The fields that the conversation comes from; all others are kept beside it. */
  readonly fields: readonly string[];
  /** True if the object is the body of such a request. */
  readonly isBody: (value: WideJsonObject) => boolean;
  /** True if a list of messages can only be one of this API. */
  readonly isOwnList: (messages: readonly WideJson[]) => boolean;
  /** The body of a request with this list of messages. */
  readonly bodyOf: (messages: readonly WideJson[]) => WideJsonObject;
  /** What the model saw, from the first message on, each as the chat API has it or `{role, parts}`. @throws E_INPUT_SHAPE, E_ROLE_UNKNOWN */
  readonly messages: (body: WideJsonObject) => readonly WideJson[];
};

export const isList = (value: WideJson | undefined): value is readonly WideJson[] => Array.isArray(value);
