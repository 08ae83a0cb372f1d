import { toWireJson, type Excerpt } from '@stemma/api';
import type { WideJson } from '@stemma/canonical';

/** The beginning of a content, never cut in the middle of a character; null where there is none. */
export const excerptOf = (content: WideJson | undefined, limit: number): Excerpt | null => {
  if (content === undefined) return null;
  const form = typeof content === 'string' ? 'text' : 'json';
  const text = typeof content === 'string' ? content : toWireJson(content);
  const complete = text.length <= limit;
  return { text: complete ? text : cut(text, limit), form, characters: text.length, complete };
};

const cut = (text: string, limit: number): string => {
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit);
};
