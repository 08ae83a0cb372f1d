import { fail } from '@stemma/errors';

/** In UTF-8. */
const MAX_ACTOR = 256;
const MAX_LABEL = 256;
const MAX_NOTES = 64 * 1024;
const MAX_WHAT = 4 * 1024;

// Control characters, and those that reverse or break a displayed line.
const UNSHOWN = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;
const CONTROL = /[^\P{Cc}\t\n]/u;

const isLonger = (text: string, bytes: number): boolean =>
  text.length > bytes || Buffer.byteLength(text) > bytes;

/**
 * The actor's name, unchanged (pool: Interventions).
 *
 * @throws E_ACTOR_REQUIRED for a blank one, E_ACTOR_INVALID
 */
export const checkActor = (actor: string): string => {
  if (actor.trim() === '') throw fail('E_ACTOR_REQUIRED', 'the command needs an actor, and none is given');
  if (isLonger(actor, MAX_ACTOR) || UNSHOWN.test(actor) || !actor.isWellFormed())
    throw fail('E_ACTOR_INVALID', `${JSON.stringify(actor.slice(0, 60))} is not a valid actor`);
  return actor;
};

/**
 * Notes and descriptions, unchanged: text that could not be shown unchanged is refused.
 *
 * @throws E_INPUT_SURROGATE, E_NOTES_INVALID
 */
export const checkNotes = (notes: string, what = 'the notes'): string => {
  if (isLonger(notes, MAX_NOTES)) throw fail('E_NOTES_INVALID', `${what} has more than ${MAX_NOTES} bytes`);
  if (!notes.isWellFormed()) throw fail('E_INPUT_SURROGATE', `${what} has an unpaired surrogate`);
  const at = notes.search(CONTROL);
  if (at !== -1)
    throw fail(
      'E_NOTES_INVALID',
      `the control character U+${(notes.codePointAt(at) ?? 0).toString(16).padStart(4, '0').toUpperCase()} is in ${what}, at character ${at}`,
    );
  return notes;
};

/**
 * The value of a label, unchanged: a line of text.
 *
 * @throws E_LABEL_INVALID for an empty one, one of more than 256 bytes, and one that cannot be shown on a line
 */
export const checkLabel = (value: string): string => {
  if (value.trim() === '' || isLonger(value, MAX_LABEL) || UNSHOWN.test(value) || !value.isWellFormed())
    throw fail('E_LABEL_INVALID', `${JSON.stringify(value.slice(0, 60))} is not a valid value of a label`);
  return value;
};

/** What an actor looked for, unchanged. @throws E_INPUT_TOO_LARGE above 4,096 bytes, E_INPUT_SURROGATE */
export const checkWhat = (what: string): string => {
  if (isLonger(what, MAX_WHAT))
    throw fail('E_INPUT_TOO_LARGE', `an observation names more than ${MAX_WHAT} bytes`);
  if (!what.isWellFormed()) throw fail('E_INPUT_SURROGATE', 'an observation holds an unpaired surrogate');
  return what;
};
