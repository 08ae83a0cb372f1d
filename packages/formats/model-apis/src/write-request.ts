import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { ModelApi } from './api-of.ts';
import { objectIn } from './body.ts';
import { jsonText } from './json-text.ts';
import { anthropicBody } from './write/anthropic-messages.ts';
import { chatMessages } from './write/chat-messages.ts';
import { responsesBody } from './write/responses-items.ts';

/** What a request is to say. */
export type RequestToWrite = {
  readonly model: string;
  /** In the form of OpenAI's chat API, as a reader or a history gives them. */
  readonly messages: readonly WideJsonObject[];
  /** As the API calls them: see `fitRequest`. */
  readonly parameters: WideJsonObject;
  readonly tools: readonly WideJson[];
  /** Default false. */
  readonly stream?: boolean;
};

/** Anthropic's API refuses a request without a limit. */
const ANTHROPIC_LIMIT = 4096;

const BODIES: {
  readonly [api in Exclude<ModelApi, 'other'>]: (messages: readonly WideJsonObject[]) => WideJsonObject;
} = {
  'openai.chat': (messages) => ({ messages: chatMessages(messages) }),
  'openai.responses': responsesBody,
  'anthropic.messages': anthropicBody,
};

/**
 * The body of a request, as JSON: what `readRequest` reads of it are these messages again, but for what the API has no place
 * for. The same input gives the same bytes.
 */
export const writeRequest = (
  api: Exclude<ModelApi, 'other'>,
  { model, messages, parameters, tools, stream = false }: RequestToWrite,
): Uint8Array =>
  new TextEncoder().encode(
    jsonText({
      model,
      ...(api === 'anthropic.messages' ? { max_tokens: ANTHROPIC_LIMIT } : {}),
      ...parameters,
      ...BODIES[api](messages),
      ...(tools.length === 0 ? {} : { tools }),
      ...(stream ? { stream } : {}),
    }),
  );

/**
 * The body of a request with some fields set; everything else is as it was, in its order. A field that is set to null is
 * taken away. @throws what is wrong with the JSON of the body
 */
export const rewriteRequest = (bytes: Uint8Array, set: WideJsonObject): Uint8Array => {
  const fields = { ...objectIn(bytes, 'the request'), ...set };
  return new TextEncoder().encode(
    jsonText(
      Object.fromEntries(Object.entries(fields).filter(([name, value]) => value !== null || !(name in set))),
    ),
  );
};
