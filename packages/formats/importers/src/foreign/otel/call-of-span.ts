import type { ForeignExchange } from '../item.ts';
import { exchangeOf } from '../said/exchange.ts';
import { openAttributes } from './attributes.ts';
import { mergedFacts, type SpanFacts, type KeySet } from './facts.ts';
import { aiSdkKeys } from './keys/ai-sdk.ts';
import { genAiEventKeys } from './keys/gen-ai-events.ts';
import { genAiIndexedKeys } from './keys/gen-ai-indexed.ts';
import { genAiKeys } from './keys/gen-ai.ts';
import { langfuseKeys } from './keys/langfuse.ts';
import { openInferenceKeys, openInferenceValues } from './keys/openinference.ts';
import type { TraceSpan } from './span.ts';

/** Sets of keys, the most exact first: where a span has several, each fact is taken from the first that says it. */
const KEYS: readonly KeySet[] = [
  aiSdkKeys,
  genAiKeys,
  openInferenceKeys,
  genAiIndexedKeys,
  genAiEventKeys,
  langfuseKeys,
  openInferenceValues,
];

/** The call of a span, and what of it is not recorded, by name. */
export type SpanCall = { readonly exchange: ForeignExchange; readonly dropped: readonly string[] };

/**
 * The call that a span stands for; `inner` is the span of the same call that another instrumentation made below it, which adds
 * what the outer one does not say.
 */
export const callOfSpan = (span: TraceSpan, inner: TraceSpan | null): SpanCall => {
  const own = factsOf(span);
  const facts = inner === null ? own.facts : mergedFacts([own.facts, factsOf(inner).facts]);
  const others = facts.others ?? 0;
  return {
    exchange: exchangeOfSpan(span, facts),
    dropped: [
      ...own.unread.map((name) => `attribute ${name}`),
      ...Array.from({ length: others }, () => 'further choice of an answer'),
    ],
  };
};

const factsOf = (span: TraceSpan): { readonly facts: SpanFacts; readonly unread: readonly string[] } => {
  const attributes = openAttributes(span.attributes);
  const facts = mergedFacts(KEYS.map((read) => read(attributes, span)));
  attributes.get(...ABOUT_SPAN);
  return { facts, unread: attributes.unread() };
};

/** What says which span it is, in which conversation, of which provider: read for that, or of no use beside the model. */
const ABOUT_SPAN = [
  ...['openinference.span.kind', 'gen_ai.operation.name', 'ai.operationId', 'llm.request.type'],
  ...['langfuse.observation.type', 'gen_ai.conversation.id', 'session.id'],
];

const exchangeOfSpan = (span: TraceSpan, facts: SpanFacts): ForeignExchange =>
  exchangeOf({
    id: `${span.traceId}:${span.spanId}`,
    at: span.startMs,
    durationMs: span.durationMs,
    firstByteMs: facts.firstByteMs,
    model: facts.model ?? null,
    messages: facts.messages ?? [],
    isGuessed: facts.isGuessed === true,
    parameters: facts.parameters ?? {},
    tools: facts.tools ?? null,
    answer: facts.answer ?? null,
    finishReason: facts.finishReason ?? null,
    answeredBy: facts.answeredBy ?? null,
    usage: facts.usage ?? null,
    error: span.error,
  });
