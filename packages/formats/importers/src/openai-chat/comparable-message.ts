import { canonicalJson, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';

/**
 * What a message is compared by: its canonical JSON without `cache_control`. Clients of Anthropic's API move these marks
 * from message to message with every call, although they say nothing to the model.
 */
export const comparableMessage = (message: WideJson): string => canonicalJson(withoutMarks(message));

/** Fields whose values may carry a mark, or hold parts that do. */
const WITHIN = ['content', 'tool_calls'] as const;

const withoutMarks = (value: WideJson): WideJson => {
  if (Array.isArray(value)) {
    const items = value as readonly WideJson[];
    const plain = items.map(withoutMarks);
    return plain.some((item, i) => item !== items[i]) ? plain : items;
  }
  if (!isJsonObject(value)) return value;
  let plain: WideJsonObject = value;
  if (Object.hasOwn(value, 'cache_control')) {
    const { cache_control: _mark, ...rest } = value;
    plain = rest;
  }
  for (const name of WITHIN) {
    const before = Object.hasOwn(plain, name) ? plain[name] : undefined;
    if (typeof before !== 'object' || before === null) continue;
    const after = withoutMarks(before);
    if (after !== before) plain = { ...plain, [name]: after };
  }
  return plain;
};
