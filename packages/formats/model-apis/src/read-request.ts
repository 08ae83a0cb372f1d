import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { ApiFormat, AskedFor } from './api-format.ts';
import { plainPath } from './api-of.ts';
import { READ_APIS, type ModelApi } from './api-names.ts';
import { formatOf } from './apis.ts';
import { openKnownPieces, type MessagePieces } from './blocks/read-blocks.ts';
import { guarded, isList, objectIn, recordable, textOrNull, type UnreadableBody } from './body.ts';

/** What a request says. */
export type ModelRequest = {
  readonly ok: true;
  /** Null if neither the body nor the path names one. */
  readonly model: string | null;
  readonly stream: boolean;
  /** Every other field of the request, as it stands. */
  readonly parameters: WideJsonObject;
  readonly tools: readonly WideJson[];
  /** The messages in the form of OpenAI's chat API, which `recordCall` takes. */
  readonly messages: readonly WideJsonObject[];
  /** `gemini.generate@1`: how the messages were read. */
  readonly mapping: string;
  /** The earlier answer that it continues (`previous_response_id`), which the messages do not hold. */
  readonly previous: string | null;
};

/**
 * What the body of a request says, or why it cannot be read. Never throws, whatever the bytes are.
 *
 * @param path of the request: it names the model in some APIs; null: it is not known, and so is that model
 */
export const readRequest = (
  api: ModelApi,
  bytes: Uint8Array,
  path: string | null = null,
): ModelRequest | UnreadableBody => {
  const read = guarded(() => requestIn(api, objectIn(bytes, 'the request'), path));
  return 'code' in read
    ? read
    : {
        ...read,
        parameters: recordable(read.parameters),
        tools: recordable(read.tools),
        messages: read.messages.map((message) => recordable(message)),
      };
};

/** As {@link readRequest}, of a value that `parseWideJson` read; its integers stay exact. */
export type RequestValueReader = (
  api: ModelApi,
  request: WideJson,
  path?: string | null,
) => ModelRequest | UnreadableBody;

/** Messages that are the same objects in several requests become the same ones. */
export const openRequestValueReader = (): RequestValueReader => {
  const known = new Map(
    READ_APIS.map((api) => {
      const { pieces } = formatOf(api);
      return [api, pieces === undefined ? undefined : openKnownPieces(pieces)] as const;
    }),
  );
  return (api, request, path = null) =>
    guarded(() => {
      if (!isJsonObject(request)) throw fail('E_INPUT_SHAPE', 'the request is not a JSON object');
      return requestIn(api, request, path, api === 'other' ? undefined : known.get(api));
    });
};

const requestIn = (
  api: ModelApi,
  body: WideJsonObject,
  path: string | null,
  pieces?: MessagePieces,
): ModelRequest => {
  if (api === 'other') throw fail('E_INPUT_SHAPE', 'the request calls no API whose requests are read');
  const format = formatOf(api);
  const { mapping, fields, messages, ofPath } = format;
  const { tools, rest } = format.tools?.take(body) ?? { tools: body['tools'], rest: body };
  const taken = new Set([
    ...(ofPath === undefined ? ['model', 'stream'] : []),
    ...(format.tools === undefined ? ['tools'] : []),
    ...fields,
  ]);
  return {
    ok: true,
    ...askedFor(format, body, path),
    parameters: Object.fromEntries(Object.entries(rest).filter(([name]) => !taken.has(name))),
    tools: toolsOf(tools),
    messages: messages(body, pieces),
    mapping,
    previous: format.namesKept.includes('previous_response_id')
      ? textOrNull(body['previous_response_id'])
      : null,
  };
};

/** The model that a request asks, and whether its answer is to be streamed. @param request the value of its body */
export const askedOf = (api: ModelApi, request: WideJson, path: string | null): AskedFor =>
  api === 'other' || !isJsonObject(request)
    ? { model: null, stream: false }
    : askedFor(formatOf(api), request, path);

const askedFor = (
  { ofPath, streamsUnlessSaid }: ApiFormat,
  { model, stream }: WideJsonObject,
  path: string | null,
): AskedFor => {
  if (ofPath !== undefined) return path === null ? { model: null, stream: false } : ofPath(plainPath(path));
  return {
    model: textOrNull(model),
    stream: stream === true || (streamsUnlessSaid === true && (stream === undefined || stream === null)),
  };
};

const toolsOf = (tools: WideJson | undefined): readonly WideJson[] => {
  if (tools === undefined || tools === null) return [];
  if (!isList(tools)) throw fail('E_INPUT_SHAPE', 'the tools are not a list');
  return tools;
};
