import { isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { anthropicMessagesFormat } from '../anthropic/format.ts';
import { openAnthropicStream } from '../anthropic/stream.ts';
import { NO_ANSWER } from '../answer.ts';
import type { AnswerStream } from '../answer-stream.ts';
import type { ApiFormat, AskedFor, ErrorToWrite } from '../api-format.ts';
import { blockList } from '../blocks/block-list.ts';
import { blockMessages, piecesOf } from '../blocks/read-blocks.ts';
import { blockLocations, spliceBlocks } from '../blocks/splice-blocks.ts';
import { blocksBody } from '../blocks/write-blocks.ts';
import { guarded, objectIn, objectOrEmpty, textOrNull } from '../body.ts';
import { converseAnswer, converseBlock, exceptionIn, openConverseStream, refusalIn } from './answer.ts';
import { converseForm } from './form.ts';
import { converseWriter, invokeWriter } from './write-answer.ts';

const CONVERSE = /\/model\/([^/]+)\/converse(-stream)?$/;
const INVOKE = /\/model\/([^/]+)\/invoke(-with-response-stream)?$/;

const askedIn = (pattern: RegExp, path: string): AskedFor => {
  const [, model = null, stream] = pattern.exec(path) ?? [];
  return { model: model === null ? null : decoded(model), stream: stream !== undefined };
};

/** A model as it is called: an ARN has escapes in a path. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const errorBody = ({ message }: ErrorToWrite): WideJsonObject => ({ message });

const pathOf = (model: string, action: string): string => `/model/${encodeURIComponent(model)}/${action}`;

/** Bedrock's Converse and ConverseStream. */
export const bedrockConverseFormat: ApiFormat = {
  mapping: 'bedrock.converse@1',
  isPath: (path) => CONVERSE.test(path),
  ofPath: (path) => askedIn(CONVERSE, path),
  fields: ['system', 'messages'],
  messages: ({ system, messages }, pieces) => blockMessages(converseForm, system, messages, pieces),
  pieces: (value, where) => piecesOf(converseForm, value, where),
  list: blockList(converseForm),
  tools: {
    field: 'toolConfig',
    take: ({ toolConfig, ...rest }) => {
      if (!isJsonObject(toolConfig))
        return { tools: undefined, rest: { ...rest, ...(toolConfig === undefined ? {} : { toolConfig }) } };
      const { tools, ...others } = toolConfig;
      return { tools, rest: Object.keys(others).length === 0 ? rest : { ...rest, toolConfig: others } };
    },
    put: (body, tools) => ({ ...body, toolConfig: { ...objectOrEmpty(body['toolConfig']), tools } }),
  },
  // A prompt that Bedrock keeps is named by its ARN as the model, and fills in variables.
  namesKept: ['promptVariables'],
  readAnswer: converseAnswer,
  openStream: openConverseStream,
  openStreamBlocks: () => converseBlock,
  framing: 'aws',
  writeMessages: (messages) => blocksBody(converseForm, messages),
  parameters: {
    within: 'inferenceConfig',
    limit: ['maxTokens'],
    temperature: 'temperature',
    topP: 'topP',
    stop: 'stopSequences',
    isStopList: true,
  },
  toolForm: {
    tool: ({ schema, ...said }) => ({ toolSpec: { ...said, inputSchema: { json: schema } } }),
    choice: (choice) => {
      if (choice === 'none') return null;
      const value =
        choice === 'auto'
          ? { auto: {} }
          : choice === 'required'
            ? { any: {} }
            : { tool: { name: choice.name } };
      return { name: 'toolConfig', value: { toolChoice: value } };
    },
  },
  locations: (body) => blockLocations(converseForm, body),
  splice: (text, locations, messages) => spliceBlocks(converseForm, text, locations, messages),
  writer: converseWriter,
  errorBody,
  client: {
    mind: 'bedrock',
    path: (model, stream) => pathOf(model, stream ? 'converse-stream' : 'converse'),
    tail: /\/model\/[^/]+\/converse(?:-stream)?\/?$/,
  },
};

/** Only Anthropic's models have messages that are read; the bodies of others are kept as bytes. */
const refuseOthers = ({ anthropic_version: version, messages }: WideJsonObject): void => {
  if (textOrNull(version) === null || messages === undefined)
    throw fail('E_INPUT_SHAPE', 'InvokeModel is read where its body is of Anthropic’s API');
};

/** Bedrock's InvokeModel and InvokeModelWithResponseStream, of models of Anthropic. */
export const bedrockInvokeFormat: ApiFormat = {
  ...anthropicMessagesFormat,
  mapping: 'bedrock.invoke@1',
  isPath: (path) => INVOKE.test(path),
  ofPath: (path) => askedIn(INVOKE, path),
  messages: (body, pieces) => {
    refuseOthers(body);
    return anthropicMessagesFormat.messages(body, pieces);
  },
  list: null,
  readAnswer: (body) => {
    const answer = anthropicMessagesFormat.readAnswer(body);
    return { ...answer, error: answer.error ?? refusalIn(body) };
  },
  isKnownAnswer: ({ type }) => type === 'message' || type === 'error',
  openStream: () => openInvokeStream(),
  framing: 'aws',
  defaults: { anthropic_version: 'bedrock-2023-05-31', ...anthropicMessagesFormat.defaults },
  writer: invokeWriter,
  errorBody,
  client: {
    mind: 'bedrock.invoke',
    path: (model, stream) => pathOf(model, stream ? 'invoke-with-response-stream' : 'invoke'),
    tail: /\/model\/[^/]+\/invoke(?:-with-response-stream)?\/?$/,
  },
};

/** Chunks hold events of Anthropic's API as base64; those of another model are passed over, and nothing is said of them. */
const openInvokeStream = (): AnswerStream => {
  const stream = openAnthropicStream();
  let error = NO_ANSWER.error;
  let isOfAnother = false;
  return {
    add: (event) => {
      error ??= exceptionIn(event);
      const bytes = textOrNull(objectOrEmpty(event['chunk'])['bytes']);
      if (bytes === null) return;
      const read = guarded(
        () => ({ ok: true, value: objectIn(Buffer.from(bytes, 'base64'), 'a chunk of the answer') }) as const,
      );
      if (!read.ok) throw fail(read.code, read.reason);
      if (textOrNull(read.value['type']) === null) isOfAnother = true;
      else stream.add(read.value);
    },
    done: () => undefined,
    answer: () => {
      const answer = stream.answer();
      const isUnread = isOfAnother && answer.answer === null;
      return {
        ...answer,
        error: answer.error ?? error,
        complete: (answer.complete || isUnread) && error === null,
      };
    },
  };
};
