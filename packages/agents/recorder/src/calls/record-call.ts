import { defined } from '@stemma/values';
import { platform } from '#call-platform';
import type { CallEnding, CallRecorder, OpenCall } from './call-recorder.ts';
import { whyNoJson } from './no-json.ts';
import { textOf } from './open-sender.ts';
import type { CallRecorderOptions, CallScopeOptions } from './options.ts';
import type { SaidAnswer, SaidCall } from './said.ts';
import { sharedRecorder } from './shared-recorders.ts';
import { sayUnknownKeys } from './unknown-keys.ts';
import { openCallWarnings } from './warnings.ts';

export type SaidCallOptions = CallRecorderOptions & CallScopeOptions & { readonly calls?: CallRecorder };

/** A call that was said, for `recordAnswer`. */
export type RecordedCallHandle = { readonly id: string };

const open = new WeakMap<RecordedCallHandle, OpenCall>();

/** Says which call is made now, for agents without a client that can be recorded. It throws nothing (calls §7.3, §7.4). */
export const recordCall = (said: SaidCall, options: SaidCallOptions = {}): RecordedCallHandle => {
  const { calls, history, run, ...rest } = options;
  try {
    const { messages, model, tools, parameters } = said;
    sayUnknownKeys('recordCall', 'call', said, options.warn);
    sayUnknownKeys('recordCall', 'options', options, options.warn);
    const start = {
      form: 'said',
      model: model?.slice(0, 512) ?? null,
      messages: copyOf(messages) as Record<string, unknown>[],
      parameters: copyOf(parameters ?? {}) as Record<string, unknown>,
      tools: tools === undefined ? null : (copyOf(tools) as unknown[]),
    } as const;
    const scope = defined({ history, run });
    const call = (calls ?? sharedRecorder(rest)).begin(start, scope);
    const handle = { id: call.id };
    open.set(handle, call);
    return handle;
  } catch (error) {
    const sentence = `a call was not recorded: ${textOf(error)}`;
    openCallWarnings(options.warn ?? platform.say).say('call', sentence);
    return { id: '' };
  }
};

/** What is said, as it is now. @throws if it is no JSON */
const copyOf = (value: unknown): unknown => {
  try {
    return structuredClone(value);
  } catch (error) {
    throw new Error(whyNoJson(error), { cause: error });
  }
};

/** Says how a call ended. It throws nothing; only the first end of a call counts. */
export const recordAnswer = (handle: RecordedCallHandle, said: SaidAnswer): void => {
  try {
    sayUnknownKeys('recordAnswer', 'answer', said, undefined);
    void open.get(handle)?.end(endingOf(said));
  } catch {
    // What was said is no answer: the call stays without an end.
  }
};

const endingOf = (said: SaidAnswer): CallEnding => {
  const { answer, error, model, finishReason, answerId, usage, firstByteMs, durationMs } = said;
  const message = typeof answer === 'string' ? { role: 'assistant', content: answer } : answer;
  return {
    status: said.status ?? (answer === undefined ? 'failed' : 'answered'),
    error: error === undefined || error === null ? null : errorOf(error),
    first_byte_ms: firstByteMs ?? null,
    ...defined({ duration_ms: durationMs }),
    response: {
      form: 'said',
      answer: (message as Record<string, unknown> | undefined) ?? null,
      finish_reason: finishReason?.slice(0, 512) ?? null,
      model: model?.slice(0, 512) ?? null,
      ...(answerId !== undefined && { answer_id: answerId.slice(0, 512) }),
      usage: usage === undefined ? null : usageOf(usage),
    },
  };
};

const usageOf = ({
  input,
  output,
  cached,
  cacheWrite,
  cacheWrite1h,
  reasoning,
}: NonNullable<SaidAnswer['usage']>) => ({
  input: countOf(input),
  output: countOf(output),
  cached: countOf(cached),
  cache_write: countOf(cacheWrite),
  reasoning: countOf(reasoning),
  // A gateway of an earlier version does not know it.
  ...(cacheWrite1h != null && { cache_write_1h: countOf(cacheWrite1h) }),
});

const countOf = (value: number | null | undefined): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

const errorOf = (error: unknown): { readonly code: string | null; readonly message: string } => {
  if (!(error instanceof Error)) return { code: null, message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return { code, message: error.message };
};
