import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { ReadApi } from './api-names.ts';
import { formatOf } from './apis.ts';
import { objectIn } from './body.ts';
import { jsonText } from './json-text.ts';

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

/**
 * The body of a request, as JSON: what `readRequest` reads of it are these messages again, but for what the API has no place
 * for. The same input gives the same bytes. What the path of a request says (the model of Gemini's) is not in it.
 *
 * @throws E_INPUT_SHAPE for messages that the API cannot be asked with
 */
export const writeRequest = (
  api: ReadApi,
  { model, messages, parameters, tools, stream = false }: RequestToWrite,
): Uint8Array => {
  const { ofPath, defaults, streamsUnlessSaid, writeMessages, tools: place } = formatOf(api);
  const body = {
    ...(ofPath === undefined ? { model } : {}),
    ...defaults,
    ...parameters,
    ...writeMessages(messages),
  };
  const put = place?.put ?? ((given, listed) => ({ ...given, tools: listed }));
  return new TextEncoder().encode(
    jsonText({
      ...(tools.length === 0 ? body : put(body, tools)),
      ...(ofPath === undefined && (stream || streamsUnlessSaid === true) ? { stream } : {}),
    }),
  );
};

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
