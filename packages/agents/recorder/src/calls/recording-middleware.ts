import { defined } from '@stemma/values';
import { assistantOf, chatMessagesOf, chatToolsOf } from './ai-messages.ts';
import { endOfError } from './end-of-error.ts';
import { recordAnswer, recordCall, type RecordedCallHandle, type SaidCallOptions } from './record-call.ts';
import { answerIdOf, openParts, previousOf, usageOfSdk, type SdkPart } from './sdk-parts.ts';
import { sayUnknownKeys } from './unknown-keys.ts';

type Params = Readonly<Record<string, unknown>>;
type Generated = {
  readonly content?: unknown;
  readonly finishReason?: unknown;
  readonly usage?: unknown;
  readonly providerMetadata?: unknown;
};
type Streamed = { readonly stream: ReadableStream<unknown> };

/** A middleware of the AI SDK: `wrapLanguageModel({ model, middleware: recordingMiddleware() })`. */
export type RecordingMiddleware = {
  readonly specificationVersion: 'v3';
  readonly wrapGenerate: <Result>(call: {
    readonly doGenerate: () => PromiseLike<Result>;
    readonly params: object;
    readonly model: { readonly modelId: string };
  }) => Promise<Result>;
  readonly wrapStream: <Result extends { stream: ReadableStream }>(call: {
    readonly doStream: () => PromiseLike<Result>;
    readonly params: object;
    readonly model: { readonly modelId: string };
  }) => Promise<Result>;
};

/** Fields of the parameters that are said apart, or are no part of the request. */
const APART: ReadonlySet<string> = new Set(['prompt', 'tools', 'headers', 'abortSignal', 'includeRawChunks']);

/**
 * Records the calls of a model of the AI SDK, whatever provider it is of: what it is asked and what it answers, in the words of the
 * chat API. It knows no bytes; a provider that takes `fetch` is recorded byte for byte with `recordingFetch` instead.
 */
export const recordingMiddleware = (options: SaidCallOptions = {}): RecordingMiddleware => {
  unharmed(() => sayUnknownKeys('recordingMiddleware', 'options', options, options.warn));
  const begin = (params: object, model: { readonly modelId: string }): RecordedCallHandle | undefined =>
    unharmed(() => {
      const given = params as Params;
      const parameters = {
        ...Object.fromEntries(
          Object.entries(given).filter(([name, value]) => !APART.has(name) && isJson(value)),
        ),
        ...previousOf(given['providerOptions']),
      };
      const tools = chatToolsOf(given['tools']);
      const messages = chatMessagesOf(given['prompt']);
      return recordCall({ messages, model: model.modelId, parameters, ...defined({ tools }) }, options);
    });
  const fail = (call: RecordedCallHandle | undefined, error: unknown, params: object): void =>
    unharmed(() => {
      const { status, error: said } = endOfError(error, signalOf(params));
      const own = status === 'failed' ? error : said?.message;
      if (call !== undefined) recordAnswer(call, { status: status as 'failed', error: own });
    });
  return {
    specificationVersion: 'v3',
    wrapGenerate: async ({ doGenerate, params, model }) => {
      const call = begin(params, model);
      try {
        const result = await doGenerate();
        unharmed(() => {
          const { content, finishReason, usage, providerMetadata } = result as Generated;
          if (call !== undefined)
            recordAnswer(call, {
              answer: assistantOf(content as readonly SdkPart[]),
              ...finishOf(finishReason),
              ...answerIdOf(providerMetadata),
              usage: usageOfSdk(usage),
            });
        });
        return result;
      } catch (error) {
        fail(call, error, params);
        throw error;
      }
    },
    wrapStream: async ({ doStream, params, model }) => {
      const began = performance.now();
      const call = begin(params, model);
      try {
        const result = await doStream();
        if (call === undefined) return result;
        return { ...result, stream: watched((result as Streamed).stream, call, began) };
      } catch (error) {
        fail(call, error, params);
        throw error;
      }
    },
  };
};

/** The same parts, when they come. */
const watched = (
  stream: ReadableStream<unknown>,
  call: RecordedCallHandle,
  began: number,
): ReadableStream => {
  const parts = openParts();
  let firstByteMs: number | undefined;
  const end = (status: 'answered' | 'failed' | 'cancelled', error?: unknown): void =>
    unharmed(() => {
      const { content, finishReason, usage, providerMetadata, error: said } = parts.result();
      const failed = status === 'answered' && said !== undefined && content.length === 0;
      recordAnswer(call, {
        status: failed ? 'failed' : status,
        ...(content.length === 0 ? {} : { answer: assistantOf(content) }),
        ...(error === undefined && said === undefined ? {} : { error: error ?? said }),
        ...finishOf(finishReason),
        ...answerIdOf(providerMetadata),
        usage: usageOfSdk(usage),
        ...defined({ firstByteMs }),
      });
    });
  const reader = stream.getReader();
  return new ReadableStream<unknown>(
    {
      pull: async (controller) => {
        try {
          const next = await reader.read();
          if (next.done) {
            end('answered');
            controller.close();
            return;
          }
          firstByteMs ??= performance.now() - began;
          unharmed(() => parts.add(next.value as SdkPart));
          controller.enqueue(next.value);
        } catch (error) {
          end(isAbort(error) ? 'cancelled' : 'failed', error);
          controller.error(error);
        }
      },
      cancel: async (reason) => {
        end('cancelled', 'the client ended the call');
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
};

/** Version 5 says a word, version 6 one of its own and the provider's. */
const finishOf = (reason: unknown): { readonly finishReason?: string } => {
  if (typeof reason === 'string') return { finishReason: reason };
  if (typeof reason !== 'object' || reason === null) return {};
  const { raw, unified } = reason as Params;
  const word = raw ?? unified;
  return typeof word === 'string' ? { finishReason: word } : {};
};

const signalOf = (params: object): AbortSignal | null =>
  'abortSignal' in params && params.abortSignal instanceof AbortSignal ? params.abortSignal : null;

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

const isJson = (value: unknown): boolean =>
  value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';

/** What `act` gives; undefined if it throws: the call goes on. */
const unharmed = <T>(act: () => T): T | undefined => {
  try {
    return act();
  } catch {
    return undefined;
  }
};
