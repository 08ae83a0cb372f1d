/** A field as an assignment makes it; an assignment to `__proto__` would set the prototype. */
const OWN = { configurable: true, enumerable: true, writable: true };

/** `T` without the keys that have no value: a key whose type includes `undefined` is optional, and never `undefined`. */
export type Defined<T extends object> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/**
 * The fields that have a value, in the order given.
 *
 * @returns for `{ notes: undefined, seq: 3 }`: `{ seq: 3 }`; a new object, also where no field is missing
 */
export const defined = <const T extends object>(fields: T): Defined<T> => {
  const kept: Record<string, unknown> = {};
  // Not `Object.fromEntries`, which takes three times as long.
  for (const key of Object.keys(fields)) {
    const value = (fields as Record<string, unknown>)[key];
    if (value === undefined) continue;
    if (key === '__proto__') Object.defineProperty(kept, key, { value, ...OWN });
    else kept[key] = value;
  }
  return kept as Defined<T>;
};
