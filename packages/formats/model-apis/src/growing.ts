import { isJsonObject, type WideJson } from '@stemma/canonical';
import { isList } from './body.ts';

/** An object that grows with the events of a stream; nothing of it is shared with them. */
export type Growing = { [key: string]: GrowingValue };
export type GrowingValue = null | boolean | number | bigint | string | GrowingValue[] | Growing;

/** Fields that a later event repeats or leaves empty, but never goes on with. */
const WHOLE: ReadonlySet<string> = new Set(['id', 'type', 'name', 'role']);

/** Adds what an event brings to a field: texts and lists go on, objects grow field by field, others are replaced. */
export const grow = (target: Growing, name: string, value: WideJson): void => {
  const known = Object.hasOwn(target, name) ? target[name] : undefined;
  if (known === undefined || known === null) target[name] = copyOf(value);
  else if (value === null) return;
  else if (typeof value === 'string' && typeof known === 'string')
    target[name] = WHOLE.has(name) ? value || known : known + value;
  else if (isList(value) && Array.isArray(known)) for (const item of value) known.push(copyOf(item));
  else if (isJsonObject(value) && isJsonObject(known))
    for (const [key, item] of Object.entries(value)) grow(known, key, item);
  else target[name] = copyOf(value);
};

/** A copy that may grow. */
export const copyOf = (value: WideJson): GrowingValue => {
  if (isList(value)) return value.map(copyOf);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyOf(item)]));
};

/** A copy of an object; null for anything else. */
export const copyOfObject = (value: WideJson | undefined): Growing | null =>
  isJsonObject(value) ? (copyOf(value) as Growing) : null;

/** The values by their numbers in order. */
export const inOrder = <T>(values: ReadonlyMap<number, T>): T[] =>
  [...values].sort(([a], [b]) => a - b).map(([, value]) => value);
