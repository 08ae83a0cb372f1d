import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { isList } from '../body.ts';
import { copyOf, grow, type Growing, type GrowingValue } from '../growing.ts';

/**
 * Adds what a delta brings to a content. Mistral streams thoughts as lists of parts and texts as texts, one after the other: then the
 * content is the list that a whole answer has, in which pieces of one text or one thought are one part.
 */
export const growContent = (message: Growing, value: WideJson): void => {
  const known = message['content'];
  if (isList(value) && !Array.isArray(known)) {
    const parts = typeof known === 'string' && known !== '' ? [{ type: 'text', text: known }] : [];
    message['content'] = parts;
    addParts(parts, value);
  } else if (Array.isArray(known)) {
    if (isList(value)) addParts(known, value);
    else if (typeof value === 'string' && value !== '') addParts(known, [{ type: 'text', text: value }]);
  } else grow(message, 'content', value);
};

const addParts = (parts: GrowingValue[], added: readonly WideJson[]): void => {
  for (const part of added) {
    const last = parts.at(-1);
    if (isJsonObject(part) && isGrowing(last) && joins(last, part)) continue;
    parts.push(copyOf(part));
  }
};

const isGrowing = (value: GrowingValue | undefined): value is Growing =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Adds a piece of the same text or thought to a part; false: it is another part. */
const joins = (last: Growing, { type, ...piece }: WideJsonObject): boolean => {
  if (last['type'] !== type) return false;
  const { text, thinking, ...rest } = piece;
  if (type === 'text' && typeof text === 'string' && typeof last['text'] === 'string') last['text'] += text;
  else if (type === 'thinking' && isList(thinking) && Array.isArray(last['thinking']))
    addParts(last['thinking'], thinking);
  else return false;
  for (const [name, value] of Object.entries(rest)) last[name] = copyOf(value);
  return true;
};
