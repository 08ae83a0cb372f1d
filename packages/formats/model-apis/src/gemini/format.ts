import { fail } from '@stemma/errors';
import type { ApiFormat } from '../api-format.ts';
import { blockList } from '../blocks/block-list.ts';
import { blockMessages, piecesOf } from '../blocks/read-blocks.ts';
import { blockLocations, spliceBlocks } from '../blocks/splice-blocks.ts';
import { blocksBody } from '../blocks/write-blocks.ts';
import { geminiAnswer } from './answer.ts';
import { geminiForm } from './form.ts';
import { geminiBlock, openGeminiStream } from './stream.ts';
import { geminiWriter } from './write-answer.ts';

/** `/v1beta/models/M:generateContent`, and Vertex's `/v1/projects/P/locations/L/publishers/google/models/M:generateContent`. */
const PATH = /\/(?:models|tunedModels|endpoints)\/([^/:]+):(g|streamG)enerateContent$/;

const CHOICES = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const;

const STATES: Readonly<Record<number, string>> = {
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
};

/** Gemini’s API, of Google AI and of Vertex. */
export const geminiGenerateFormat: ApiFormat = {
  mapping: 'gemini.generate@1',
  isPath: (path) => PATH.test(path),
  ofPath: (path) => {
    const [, model = null, how] = PATH.exec(path) ?? [];
    return { model: model === null ? null : decoded(model), stream: how === 'streamG' };
  },
  fields: ['systemInstruction', 'system_instruction', 'contents'],
  messages: ({ systemInstruction: system, system_instruction: snake, contents }, pieces) => {
    if (system !== undefined && snake !== undefined)
      throw fail('E_INPUT_SHAPE', 'the request has both systemInstruction and system_instruction');
    return blockMessages(geminiForm, system ?? snake, contents, pieces);
  },
  pieces: (value, where) => piecesOf(geminiForm, value, where),
  list: blockList(geminiForm),
  namesKept: ['cachedContent'],
  readAnswer: geminiAnswer,
  openStream: openGeminiStream,
  openStreamBlocks: () => geminiBlock,
  framing: 'list',
  writeMessages: (messages) => blocksBody(geminiForm, messages),
  parameters: {
    within: 'generationConfig',
    limit: ['maxOutputTokens'],
    temperature: 'temperature',
    topP: 'topP',
    stop: 'stopSequences',
    isStopList: true,
  },
  toolForm: {
    tool: ({ schema, ...said }) => ({ functionDeclarations: [{ ...said, parametersJsonSchema: schema }] }),
    choice: (choice) => ({
      name: 'toolConfig',
      value: {
        functionCallingConfig:
          typeof choice === 'string'
            ? { mode: CHOICES[choice] }
            : { mode: 'ANY', allowedFunctionNames: [choice.name] },
      },
    }),
  },
  locations: (body) => blockLocations(geminiForm, body),
  splice: (text, locations, messages) => spliceBlocks(geminiForm, text, locations, messages),
  writer: geminiWriter,
  errorBody: ({ status, code, message }) => ({
    error: {
      ...{ code: status, message, status: STATES[status] ?? 'INVALID_ARGUMENT' },
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code, domain: 'stemma' }],
    },
  }),
  client: {
    mind: 'gemini',
    path: (model, stream) =>
      `/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    tail: /(?:\/v\d\w*)?\/(?:models|tunedModels)\/[^/]+$/,
  },
};

/** A model as it is called: what is no letter is escaped in a path. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
