import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { CallStatus, CallUsage } from '@stemma/events';
import { listOf } from '../fields.ts';
import type { ForeignExchange, MissingPart } from '../item.ts';

/** What a record says of a call: its messages, its answer, how it went. */
export type SaidOfCall = {
  readonly id: string;
  readonly at: number | null;
  readonly durationMs: number | null;
  readonly firstByteMs?: number | null | undefined;
  /** That was asked. */
  readonly model: string | null;
  readonly messages: readonly WideJsonObject[];
  /** True if the messages are put together. */
  readonly isGuessed: boolean;
  readonly parameters: WideJsonObject;
  readonly tools: readonly WideJson[] | null;
  readonly answer: WideJsonObject | null;
  readonly finishReason: string | null;
  readonly answeredBy: string | null;
  readonly usage: CallUsage | null;
  readonly error: { readonly code: string | null; readonly message: string } | null;
  /** By default it failed if there is an error, else it was answered. */
  readonly status?: CallStatus | undefined;
};

/** The item of a call that a record has; what it lacks is named. */
export const exchangeOf = (call: SaidOfCall): ForeignExchange => {
  const { id, at, messages, error, usage, firstByteMs = null } = call;
  const status = call.status ?? (error === null ? 'answered' : 'failed');
  const missing = missingOf(call, status);
  return {
    kind: 'exchange',
    id,
    ...(at !== null && { at }),
    request: {
      form: 'said',
      model: call.model ?? call.answeredBy,
      messages,
      parameters: call.parameters,
      tools: call.tools === null || call.tools.length === 0 ? null : call.tools,
    },
    end: {
      status,
      durationMs: call.durationMs,
      ...(firstByteMs !== null && { firstByteMs }),
      error,
      response: {
        form: 'said',
        answer: call.answer,
        finishReason: call.finishReason,
        model: call.answeredBy,
        usage,
      },
    },
    fidelity: messages.length > 0 && !call.isGuessed ? 'same' : 'reconstructed',
    ...(missing.length > 0 && { missing }),
  };
};

/** What the call had and its record does not: tools are missing where one was called. */
const missingOf = (
  { messages, answer, tools, usage }: SaidOfCall,
  status: CallStatus,
): readonly MissingPart[] => {
  const calledTools = [...messages, ...(answer === null ? [] : [answer])].some(
    (message) => message['role'] === 'tool' || listOf(message['tool_calls']).length > 0,
  );
  const isAnswered = status === 'answered';
  return [
    ...(messages.length === 0 ? (['messages'] as const) : []),
    ...((tools === null || tools.length === 0) && calledTools ? (['tools'] as const) : []),
    ...(answer === null && isAnswered ? (['answer'] as const) : []),
    ...(usage === null && isAnswered ? (['usage'] as const) : []),
  ];
};
