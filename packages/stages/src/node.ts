import { isExactObject, isInteger, member, type ExactJson } from './exact-json.ts';
import { numberText } from './exact-numbers.ts';
import type { Profile } from './profile.ts';
import { pythonStr, strip } from './python-text.ts';

/** A recorded node of the stream, before it is described. */
export type StreamNode = {
  readonly kind: string;
  /** An integer, or anything else as it was given. */
  readonly turn: ExactJson;
  readonly payload: ExactJson;
  /** The id that was given; null for one that is made of ordinal and digest. */
  readonly id: string | null;
};

/** A value where a text is expected: Python's `str` of it to the engine, no text at all to us; null for null. */
export const textOf = ({ compat }: Profile, value: ExactJson): string | null => {
  if (value === null) return null;
  return typeof value === 'string' ? value : compat ? pythonStr(value) : null;
};

/** The trimmed text under a key of a payload; null if it is blank or missing, or the payload is no object. */
export const trimmedMember = (profile: Profile, payload: ExactJson, key: string): string | null => {
  if (!isExactObject(payload)) return null;
  const text = textOf(profile, member(payload, key));
  return text === null ? null : strip(text) || null;
};

/** What a message says: `content`, if that is null or absent `text`; null if there is neither. */
export const contentOf = (payload: ExactJson): ExactJson =>
  isExactObject(payload) ? (member(payload, 'content') ?? member(payload, 'text')) : null;

/** A node's turn as the digits of an integer; null if it has none. To the engine, booleans are the integers 0 and 1. */
export const turnDigits = ({ compat }: Profile, turn: ExactJson): string | null => {
  if (isInteger(turn)) return numberText(turn);
  return compat && typeof turn === 'boolean' ? String(Number(turn)) : null;
};
