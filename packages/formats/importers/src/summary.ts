import { compareCodePoints, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { addCount, cutText, sortedCounts, type ImportCounts } from './counts.ts';
import type { CallUsage, Fidelity, ImportSummary } from '@stemma/events';
import { IMAGE_PARTS, isFailedResult, THINKING_PARTS } from '@stemma/model-apis';

type ImportWarning = NonNullable<ImportSummary['warnings']>[number];

/** What is to be known of a call to count it. */
export type CountedCall = {
  readonly model: string | null;
  readonly usage?: CallUsage | null | undefined;
  readonly fidelity: Fidelity;
  readonly missing?: readonly string[] | undefined;
  readonly aborted?: boolean | undefined;
};

/** Counts what is read. All that is named comes from a file, so the number of names is bounded. */
export type SummaryCounter = {
  /** A message of the file, and the messages of the chat API that it is. @param role as the file calls it */
  readonly message: (role: string, messages: readonly WideJsonObject[]) => void;
  readonly call: (call: CountedCall) => void;
  readonly at: (milliseconds: number | undefined) => void;
  readonly add: (what: 'branches' | 'sidechains' | 'compactions' | 'aborted', count?: number) => void;
  readonly dropped: (what: string, count?: number) => void;
  readonly warning: (code: string, where: string, count?: number) => void;
  /** The counts so far. Results that no call has, and calls that no result has, are known at the end only. */
  readonly summary: () => ImportSummary;
};

const LONGEST_PLACE = 300;
const MOST_WARNINGS = 100;
/** So many tool calls may wait for a result at once; of further ones nobody knows whether they have one. */
const MOST_WAITING = 100_000;

/** What a counter holds. */
type Counted = {
  calls: number;
  messages: number;
  toolCalls: number;
  toolResults: number;
  resultsWithoutCall: number;
  toolErrors: number;
  images: number;
  thinking: number;
  firstAt: number | null;
  lastAt: number | null;
};

export const openSummary = (): SummaryCounter => {
  const counted: Counted = {
    calls: 0,
    messages: 0,
    toolCalls: 0,
    toolResults: 0,
    resultsWithoutCall: 0,
    toolErrors: 0,
    images: 0,
    thinking: 0,
    firstAt: null,
    lastAt: null,
  };
  const models = new Map<string, number>();
  const roles = new Map<string, number>();
  const usage = new Map<keyof typeof USAGE_KEYS, number>();
  const fidelity = new Map<string, number>();
  const missing = new Map<string, number>();
  const dropped = new Map<string, number>();
  const others = new Map<string, number>();
  const warnings = new Map<string, { count: number; first: string }>();
  const waiting = new Map<string, number>();

  const result = (message: WideJsonObject): void => {
    counted.toolResults += 1;
    if (isFailedResult(message)) counted.toolErrors += 1;
    const { tool_call_id: id } = message;
    const open = typeof id === 'string' ? (waiting.get(id) ?? 0) : 0;
    if (open === 0) counted.resultsWithoutCall += 1;
    else if (open === 1) waiting.delete(id as string);
    else waiting.set(id as string, open - 1);
  };
  const calls = (message: WideJsonObject): void => {
    const list = Array.isArray(message['tool_calls']) ? (message['tool_calls'] as readonly WideJson[]) : [];
    const content = Array.isArray(message['content']) ? (message['content'] as readonly WideJson[]) : [];
    for (const part of content) {
      if (!isJsonObject(part) || typeof part['call_id'] !== 'string' || part['type'] !== LOCAL_CALL) continue;
      counted.toolCalls += 1;
      waiting.set(part['call_id'], (waiting.get(part['call_id']) ?? 0) + 1);
    }
    for (const call of [
      ...list,
      ...(isJsonObject(message['function_call']) ? [message['function_call']] : []),
    ]) {
      counted.toolCalls += 1;
      const id = isJsonObject(call) && typeof call['id'] === 'string' ? call['id'] : '';
      if (waiting.size < MOST_WAITING || waiting.has(id)) waiting.set(id, (waiting.get(id) ?? 0) + 1);
    }
  };
  const counter: SummaryCounter = {
    message(role, messages) {
      counted.messages += 1;
      addCount(roles, role);
      for (const message of messages) {
        if (message['role'] === 'tool' || message['role'] === 'function') result(message);
        calls(message);
        const kinds = partsOf(message['content']);
        counted.images += kinds.filter((kind) => IMAGE_PARTS.has(kind)).length;
        counted.thinking += kinds.filter((kind) => THINKING_PARTS.has(kind)).length;
      }
    },
    call(call) {
      counted.calls += 1;
      if (call.model !== null) addCount(models, call.model);
      for (const [name, key] of USAGES) {
        const tokens = call.usage?.[name];
        if (typeof tokens === 'number') usage.set(key, (usage.get(key) ?? 0) + tokens);
      }
      addCount(fidelity, call.fidelity);
      for (const part of call.missing ?? []) addCount(missing, part);
      if (call.aborted === true) addCount(others, 'aborted');
    },
    at(milliseconds) {
      if (milliseconds !== undefined) {
        counted.firstAt = Math.min(counted.firstAt ?? milliseconds, milliseconds);
        counted.lastAt = Math.max(counted.lastAt ?? milliseconds, milliseconds);
      }
    },
    add(what, count = 1) {
      addCount(others, what, count);
    },
    dropped(what, count = 1) {
      addCount(dropped, what, count);
    },
    warning(code, where, count = 1) {
      const before = warnings.get(code);
      if (before !== undefined) before.count += count;
      else if (warnings.size < MOST_WARNINGS)
        warnings.set(code, { count, first: cutText(where, LONGEST_PLACE) });
    },
    summary() {
      const withoutResult = [...waiting.values()].reduce((sum, count) => sum + count, 0);
      const { firstAt, lastAt } = counted;
      return {
        calls: counted.calls,
        ...(models.size > 0 && { models: sortedCounts(models) }),
        messages: counted.messages,
        ...(roles.size > 0 && { messages_by_role: sortedCounts(roles) }),
        tool_calls: counted.toolCalls,
        tool_results: counted.toolResults,
        tool_calls_without_result: withoutResult,
        tool_results_without_call: counted.resultsWithoutCall,
        tool_errors: counted.toolErrors,
        images: counted.images,
        thinking: counted.thinking,
        ...(usage.size > 0 && { usage: Object.fromEntries(usage) }),
        ...Object.fromEntries(OTHER_COUNTS.map((what) => [what, others.get(what) ?? 0])),
        ...(firstAt !== null && { first_at: new Date(firstAt).toISOString() }),
        ...(lastAt !== null && { last_at: new Date(lastAt).toISOString() }),
        ...(fidelity.size > 0 && { fidelity: sortedCounts(fidelity) }),
        ...(missing.size > 0 && { missing: sortedCounts(missing) }),
        ...(dropped.size > 0 && { dropped: sortedCounts(dropped) }),
        ...(warnings.size > 0 && {
          warnings: [...warnings].map(([code, { count, first }]) => ({ code, count, first })),
        }),
      };
    },
  };
  return counter;
};

/** The sum of several: of the conversations of a file, of files. */
export const sumOfSummaries = (all: readonly ImportSummary[]): ImportSummary => {
  const sum: Record<string, unknown> = {};
  for (const each of all)
    for (const [key, value] of Object.entries(each)) sum[key] = summed(key, sum[key], value);
  return sum;
};

const summed = (key: string, before: unknown, value: unknown): unknown => {
  if (before === undefined) return value;
  if (key === 'first_at') return earlier(before, value) ? before : value;
  if (key === 'last_at') return earlier(before, value) ? value : before;
  if (key === 'warnings')
    return joinWarnings(before as readonly ImportWarning[], value as readonly ImportWarning[]);
  if (typeof value === 'number') return (before as number) + value;
  const counts = new Map(Object.entries(before as ImportCounts));
  for (const [name, count] of Object.entries(value as ImportCounts)) addCount(counts, name, count);
  return key === 'usage' ? Object.fromEntries(counts) : sortedCounts(counts);
};

/** Of two times in the form that they have here. */
const earlier = (a: unknown, b: unknown): boolean => compareCodePoints(a as string, b as string) <= 0;

const joinWarnings = (
  before: readonly ImportWarning[],
  more: readonly ImportWarning[],
): readonly ImportWarning[] => {
  const joined = new Map(before.map((warning) => [warning.code, warning]));
  for (const warning of more) {
    const known = joined.get(warning.code);
    joined.set(
      warning.code,
      known === undefined ? warning : { ...known, count: known.count + warning.count },
    );
  }
  return [...joined.values()];
};

const OTHER_COUNTS = ['branches', 'sidechains', 'compactions', 'aborted'] as const;

/** How the report calls what a call's usage states. */
const USAGE_KEYS = {
  input: 'input',
  output: 'output',
  cached_input: 'cached',
  cache_write: 'cacheWrite',
  reasoning: 'reasoning',
} as const;

const USAGES = Object.entries(USAGE_KEYS).map(
  ([key, name]) => [name, key as keyof typeof USAGE_KEYS] as const,
);

/** A call of a shell on the machine of the agent: an item of its own, and no call of a function. */
const LOCAL_CALL = 'local_shell_call';

const partsOf = (content: WideJson | undefined): readonly string[] =>
  Array.isArray(content)
    ? (content as readonly WideJson[]).flatMap((part) =>
        isJsonObject(part) && typeof part['type'] === 'string' ? [part['type']] : [],
      )
    : [];
