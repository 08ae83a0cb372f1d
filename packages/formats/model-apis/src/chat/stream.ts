import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { errorOf, NO_ANSWER, openAIUsage, type ModelAnswer } from '../answer.ts';
import { isList, objectOrEmpty, textOrNull } from '../body.ts';
import { grow, inOrder, type Growing } from '../growing.ts';
import type { AnswerStream } from '../answer-stream.ts';
import { choicesOf } from './answer.ts';
import { growContent } from './grow-content.ts';

/** The chunks of OpenAI's chat API: `[DONE]` ends them, and the last before it may hold the usage and no choice. */
export const openChatStream = (): AnswerStream => {
  let answer: ModelAnswer = NO_ANSWER;
  const choices = new Map<number, OpenChoice>();
  const choiceAt = (index: number): OpenChoice => {
    const choice = choices.get(index) ?? openChoice();
    choices.set(index, choice);
    return choice;
  };
  return {
    add: (chunk) => {
      let finishReason: string | null = null;
      for (const choice of choicesOf(chunk['choices'])) {
        const index = choice['index'] ?? 0;
        if (typeof index !== 'number') continue;
        if (isJsonObject(choice['delta'])) choiceAt(index).add(choice['delta']);
        if (index === 0) finishReason ??= textOrNull(choice['finish_reason']);
      }
      answer = {
        ...answer,
        finishReason: finishReason ?? answer.finishReason,
        model: answer.model ?? textOrNull(chunk['model']),
        id: answer.id ?? textOrNull(chunk['id']),
        usage: openAIUsage(chunk['usage']) ?? answer.usage,
        error: answer.error ?? errorOf(chunk['error']),
      };
    },
    done: () => {
      answer = { ...answer, complete: true };
    },
    answer: () => {
      const others = [...choices]
        .filter(([index]) => index !== 0)
        .sort(([a], [b]) => a - b)
        .map(([, choice]) => choice.message());
      return {
        ...answer,
        answer: choices.get(0)?.message() ?? null,
        ...(others.length === 0 ? {} : { others }),
      };
    },
  };
};

/** The message of a choice that grows. */
type OpenChoice = {
  add(delta: WideJsonObject): void;
  message(): WideJsonObject;
};

const openChoice = (): OpenChoice => {
  const message: Growing = {};
  const calls = newCalls();
  return {
    add: (delta) => {
      for (const [name, value] of Object.entries(delta))
        if (name === 'tool_calls') calls.add(value);
        else if (name === 'content') growContent(message, value);
        else grow(message, name, value);
    },
    message: () => ({ content: null, ...message, ...calls.field(), role: 'assistant' }),
  };
};

/**
 * The calls that deltas make up. A delta belongs to the call of its index, or else to the last, unless it has a new id, or no id and
 * the name of a function where the last has one.
 */
const newCalls = () => {
  const calls = new Map<number, Growing>();
  let last = -1;
  const indexOf = (delta: WideJsonObject): number => {
    const { index, id } = delta;
    if (typeof index === 'number') return index;
    const before = calls.get(last);
    const hasId = typeof id === 'string' && id !== '';
    const isNew = before === undefined || (hasId ? before['id'] !== id : isNamed(delta) && isNamed(before));
    return isNew ? last + 1 : last;
  };
  return {
    add: (deltas: WideJson): void => {
      if (!isList(deltas)) return;
      for (const delta of deltas) {
        if (!isJsonObject(delta)) continue;
        last = indexOf(delta);
        const call = calls.get(last) ?? {};
        calls.set(last, call);
        for (const [name, value] of Object.entries(delta)) if (name !== 'index') grow(call, name, value);
      }
    },
    field: (): WideJsonObject => (calls.size === 0 ? {} : { tool_calls: inOrder(calls) }),
  };
};

const isNamed = (call: WideJsonObject): boolean =>
  (textOrNull(objectOrEmpty(call['function'])['name']) ?? '') !== '';
