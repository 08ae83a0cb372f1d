import { isExactObject, isInteger, member, type ExactJson } from './exact-json.ts';
import { numberText } from './exact-numbers.ts';
import type { Profile } from './profile.ts';
import { pythonStr, strip } from './python-text.ts';

/** A recorded node of the stream, before it is described. */
export type StreamNode = {
  readonly kind: string;
  /** An integer, or any other value unchanged. */
  readonly turn: ExactJson;
  readonly payload: ExactJson;
  /** The given id; null if the id is made of ordinal and digest. */
  readonly id: string | null;
};

/** The text of a value: in the engine's profile Python's `str` of it, in ours only a text; null for null. */
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

/** The content of a message: `content`, or `text` if that is null or absent; null if there is neither. */
export const contentOf = (payload: ExactJson): ExactJson =>
  isExactObject(payload) ? (member(payload, 'content') ?? member(payload, 'text')) : null;

/**
 * A node's turn as the digits of an integer; null if it has none. In the engine's profile booleans are the integers 0
 * and 1.
 */
export const turnDigits = ({ compat }: Profile, turn: ExactJson): string | null => {
  if (isInteger(turn)) return numberText(turn);
  return compat && typeof turn === 'boolean' ? String(Number(turn)) : null;
};
