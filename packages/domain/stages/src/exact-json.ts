/**
 * A number in {@link ExactJson} that neither a `number` nor a `bigint` can represent: a float with an integral value
 * (`1.0`, `-0.0`), or an integer of any size in digits. `text` is Python's output of it, in canonical form.
 */
export class NumberText {
  readonly text: string;
  readonly float: boolean;

  constructor(text: string, float: boolean) {
    this.text = text;
    this.float = float;
  }
}

/**
 * JSON as Python reads it. A `number` that is a safe integer is an integer and every other `number` a float, so any
 * value of our own trees is one; the rest is {@link NumberText}. Texts may hold lone surrogates, objects any key.
 */
export type ExactJson =
  null | boolean | number | bigint | string | NumberText | readonly ExactJson[] | ExactObject;

export type ExactObject = { readonly [key: string]: ExactJson };

/** True for an object: not null, not a list, not a number in digits. */
export const isExactObject = (value: ExactJson | undefined): value is ExactObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText);

export const isExactList = (value: ExactJson | undefined): value is readonly ExactJson[] =>
  Array.isArray(value);

/** The member of an object, or null if it has no such key of its own. */
export const member = (object: ExactObject, key: string): ExactJson =>
  Object.hasOwn(object, key) ? (object[key] as ExactJson) : null;

const ORDER = Symbol('keys as they were written');

/** Records the order of keys where JavaScript has another one: it puts keys such as "10" first. */
export const noteKeyOrder = (object: object, keys: readonly string[]): void => {
  Object.defineProperty(object, ORDER, { value: keys, enumerable: false });
};

/** The keys of an object in the order in which its text gave them. */
export const keysAsWritten = (object: ExactObject): readonly string[] =>
  (object as { readonly [ORDER]?: readonly string[] })[ORDER] ?? Object.keys(object);

/** True for an integer of the JSON text: no point, no exponent. Booleans are none. */
export const isInteger = (value: ExactJson | undefined): value is number | bigint | NumberText =>
  typeof value === 'number'
    ? Number.isSafeInteger(value)
    : typeof value === 'bigint' || (value instanceof NumberText && !value.float);

/** True for a float of the JSON text. */
export const isFloat = (value: ExactJson | undefined): value is number | NumberText =>
  typeof value === 'number' ? !Number.isSafeInteger(value) : value instanceof NumberText && value.float;
