import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { CallUsage } from '@stemma/events';
import type { Attributes } from './attributes.ts';
import type { TraceSpan } from './span.ts';

/** What a span says of a call, under one set of keys. A field that the set says nothing of is absent. */
export type SpanFacts = {
  readonly model?: string | null | undefined;
  readonly messages?: readonly WideJsonObject[] | null | undefined;
  /** True if the messages are put together. */
  readonly isGuessed?: boolean | undefined;
  readonly parameters?: WideJsonObject | undefined;
  readonly tools?: readonly WideJson[] | null | undefined;
  readonly answer?: WideJsonObject | null | undefined;
  /** Of the answer: further choices, which are not recorded. */
  readonly others?: number | undefined;
  readonly finishReason?: string | null | undefined;
  readonly answeredBy?: string | null | undefined;
  readonly usage?: CallUsage | null | undefined;
  readonly firstByteMs?: number | null | undefined;
};

/** A set of keys: what it says of the call of a span. */
export type KeySet = (attributes: Attributes, span: TraceSpan) => SpanFacts;

/** Of each fact what the first says that says it: messages, the answer, the tools and the tokens may be of different sets. */
export const mergedFacts = (all: readonly SpanFacts[]): SpanFacts => {
  const messages = all.find((facts) => (facts.messages?.length ?? 0) > 0);
  const answer = all.find((facts) => (facts.answer ?? null) !== null);
  const first = <T>(get: (facts: SpanFacts) => T | null | undefined): T | null =>
    all.map(get).find((value) => value !== null && value !== undefined) ?? null;
  return {
    model: first((facts) => facts.model),
    messages: messages?.messages ?? null,
    isGuessed: messages?.isGuessed === true,
    parameters: all.find(({ parameters = {} }) => Object.keys(parameters).length > 0)?.parameters ?? {},
    tools: all.find(({ tools }) => (tools?.length ?? 0) > 0)?.tools ?? null,
    answer: answer?.answer ?? null,
    others: answer?.others ?? 0,
    finishReason: first((facts) => facts.finishReason),
    answeredBy: first((facts) => facts.answeredBy),
    usage: mergedUsage(all),
    firstByteMs: first((facts) => facts.firstByteMs),
  };
};

const mergedUsage = (all: readonly SpanFacts[]): CallUsage | null => {
  const stated = all.flatMap(({ usage }) => (usage === null || usage === undefined ? [] : [usage]));
  const first = (get: (usage: CallUsage) => number | null): number | null =>
    stated.map(get).find((count) => count !== null) ?? null;
  if (stated.length === 0) return null;
  return {
    input: first(({ input }) => input),
    output: first(({ output }) => output),
    cached: first(({ cached }) => cached),
    cacheWrite: first(({ cacheWrite }) => cacheWrite),
    reasoning: first(({ reasoning }) => reasoning),
  };
};

/** The usage; null where nothing is stated. */
export const statedUsage = (usage: CallUsage): CallUsage | null =>
  Object.values(usage).every((count) => count === null) ? null : usage;
