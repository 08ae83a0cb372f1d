import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { anthropicMessages, readAnswer } from '@stemma/model-apis';
import { listOf, objectOf, textOf, timeOf } from '../fields.ts';
import { MOST_PARTS, type ForeignCall, type ForeignItem } from '../item.ts';

/** An answer whose blocks come line by line, each line with its usage so far. */
export type OpenAnswer = {
  /** Of the message. */
  readonly id: string;
  /** The uuid of its first line: what follows any of its lines follows this one. */
  readonly first: string | undefined;
  readonly add: (message: WideJsonObject) => void;
  readonly items: () => readonly ForeignItem[];
};

/** What the program says in the model's place: that a limit is reached, or the provider failed. */
export const isOfSynthetic = (message: WideJsonObject): boolean => message['model'] === '<synthetic>';

export const openAnswer = (
  id: string,
  line: WideJsonObject,
  message: WideJsonObject,
  after: string | null | undefined,
): OpenAnswer => {
  const first = textOf(line['uuid']);
  const state = { content: [] as WideJson[], last: message, ends: [] as number[] };
  const add = (said: WideJsonObject): void => {
    const { content } = said;
    state.content.push(
      ...(typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)),
    );
    state.last = said;
    state.ends.push(state.content.length);
  };
  add(message);
  return {
    id,
    first,
    add,
    items: () => {
      const answer = messageOf(state.content);
      const soFar = state.ends
        .slice(0, MOST_PARTS)
        .map((end) => messageOf(state.content.slice(0, end)))
        .filter((part) => part !== null);
      const { last } = state;
      const usage = usageOf(last);
      const call: ForeignCall = {
        kind: 'call',
        id: first,
        model: textOf(message['model']) ?? null,
        answer,
        soFar,
        finishReason: textOf(last['stop_reason']) ?? null,
        usage,
        stated: usage === null ? null : statedOf(usage),
        missing: ['system prompt', 'tools', 'parameters'],
        at: timeOf(line['timestamp']),
        ...(after !== undefined && { after }),
      };
      const unread: readonly ForeignItem[] =
        answer === null && state.content.length > 0
          ? [{ kind: 'warning', code: 'W_VALUE_UNREAD', where: `the answer ${id}` }]
          : [];
      return [...unread, call];
    },
  };
};

const messageOf = (content: readonly WideJson[]): WideJsonObject | null => {
  if (content.length === 0) return null;
  try {
    return anthropicMessages(undefined, [{ role: 'assistant', content: [...content] }])[0] ?? null;
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    return null;
  }
};

type Usage = NonNullable<NonNullable<ForeignCall['usage']>>;

const HEAD = { status: 200, contentType: 'application/json' } as const;

/** The usage of an answer as its API states it. */
const usageOf = (message: WideJsonObject): Usage | null => {
  if (Object.keys(objectOf(message['usage'])).length === 0) return null;
  const body = { type: 'message', role: 'assistant', content: [], usage: objectOf(message['usage']) };
  return readAnswer('anthropic.messages', HEAD, Buffer.from(JSON.stringify(body))).usage;
};

/** `input_tokens` do not hold what was read from or written to the cache. */
const statedOf = (usage: Usage): Usage => ({
  ...usage,
  input: usage.input === null ? null : usage.input - (usage.cached ?? 0) - (usage.cacheWrite ?? 0),
});
