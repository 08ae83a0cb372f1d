import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { isList } from './body.ts';

/** A part of the content of a message, or one of its calls, by its number among those. */
export type WirePiece = { readonly what: 'part' | 'call'; readonly index: number };

/**
 * The parts and calls of a message in the order in which its API has them: an answer may think, call, think and call. What the readers
 * noted says it (`items` of OpenAI's Responses, `before` of a call of Anthropic's API); without a note all calls stand behind all parts.
 */
export const wireOrder = ({ content, tool_calls: calls, items }: WideJsonObject): readonly WirePiece[] => {
  const parts = isList(content) ? content.length : content === undefined || content === null ? 0 : 1;
  const made = isList(calls) ? calls : [];
  const pieces: WirePiece[] = [];
  let part = 0;
  let call = 0;
  const takeParts = (end: number): void => {
    while (part < Math.min(end, parts)) pieces.push({ what: 'part', index: part++ });
  };
  const takeCall = (): void => {
    if (call < made.length) pieces.push({ what: 'call', index: call++ });
  };
  if (isList(items) && isList(content))
    for (const item of items)
      if (item === 'call') takeCall();
      else takeParts(part + partsOf(item));
  for (const each of made.slice(call)) {
    const before = isJsonObject(each) ? each['before'] : undefined;
    takeParts(typeof before === 'number' && isList(content) ? before : parts);
    takeCall();
  }
  takeParts(parts);
  return pieces;
};

/** How many parts an item became; one that was a message of a text became one. */
const partsOf = (item: WideJson): number => {
  const count = isJsonObject(item) ? item['parts'] : null;
  return typeof count === 'number' ? count : 1;
};

/** True for the result of a tool that says of itself that it failed or was not finished. */
export const isFailedResult = ({ role, is_error, isError, status, item }: WideJsonObject): boolean =>
  (role === 'tool' || role === 'function') &&
  (is_error === true ||
    isError === true ||
    isUnfinished(status) ||
    (isJsonObject(item) && isUnfinished(item['status'])));

const isUnfinished = (status: WideJson | undefined): boolean =>
  status === 'incomplete' || status === 'failed' || status === 'error';
