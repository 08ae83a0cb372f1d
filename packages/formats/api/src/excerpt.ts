import type { Excerpt } from './tree.ts';
import { toWireJson } from './wire-json.ts';

/** At most `limit` UTF-16 units of a text; no character is cut in two. */
export const cutText = (text: string, limit: number): string => {
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit);
};

/** The beginning of a text on one line: white space folded, an ellipsis after at most `limit` characters. */
export const firstWords = (text: string, limit: number): string => {
  const folded = cutText(text, limit * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return folded.length > limit ? cutText(folded, limit) + '…' : folded;
};

/** The beginning of a content, at most `limit` characters of it; null where there is none. */
export const excerptOf = (content: unknown, limit = Number.POSITIVE_INFINITY): Excerpt | null => {
  if (content === undefined) return null;
  const form = typeof content === 'string' ? 'text' : 'json';
  const text = typeof content === 'string' ? content : toWireJson(content);
  const complete = text.length <= limit;
  return { text: complete ? text : cutText(text, limit), form, characters: text.length, complete };
};
