import { isJsonObject, type WideJson } from '@stemma/canonical';
import { isList, textOrNull } from '../body.ts';

/** The ids of the tool calls of a message, in the form of the chat API. */
export const callIdsOf = (message: WideJson): string[] => {
  if (!isJsonObject(message) || !isList(message['tool_calls'])) return [];
  return message['tool_calls'].flatMap((call) => {
    const id = isJsonObject(call) ? textOrNull(call['id']) : null;
    return id === null ? [] : [id];
  });
};

/** The tool call that a message answers; null if it answers none. */
export const answeredCall = (message: WideJson): string | null =>
  isJsonObject(message) && message['role'] === 'tool' ? textOrNull(message['tool_call_id']) : null;

/**
 * What is wrong with the tool calls of a list of messages, which the APIs refuse: a call without its result right behind,
 * or a result without its call. Null: nothing.
 */
export const faultInPairs = (messages: readonly WideJson[]): string | null => {
  let open = new Set<string>();
  for (const message of messages) {
    const answered = answeredCall(message);
    if (answered !== null) {
      if (!open.delete(answered)) return `the result of ${answered} has no call before it`;
      continue;
    }
    const [unanswered] = open;
    if (unanswered !== undefined) return `the call ${unanswered} has no result behind it`;
    open = new Set(callIdsOf(message));
  }
  return null;
};
