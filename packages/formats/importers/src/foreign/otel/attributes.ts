import { isForbiddenKey, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { compareCodePoints } from '@stemma/canonical';
import type { Field } from '../fields.ts';

/** The attributes of a span; it remembers which were asked for. */
export type Attributes = {
  /** The first of these that is there, and is not null. */
  readonly get: (...names: readonly string[]) => Field;
  /**
   * All attributes whose names begin like that, as one value: `llm.tools.0.name` and `llm.tools.1.name` are a list of objects under
   * `llm.tools`. Undefined: there are none.
   */
  readonly tree: (prefix: string) => Field;
  /** The names of those that begin like that, without the beginning. */
  readonly under: (prefix: string) => readonly string[];
  /** The names of those that nobody asked for, numbers in them as `N`. */
  readonly unread: () => readonly string[];
};

export const openAttributes = (given: WideJsonObject): Attributes => {
  const flat = new Map<string, WideJson>();
  flatten(given, '', flat, 0);
  const read = new Set<string>();
  const namesUnder = (prefix: string): readonly string[] =>
    [...flat.keys()].filter((name) => name.startsWith(`${prefix}.`));
  return {
    get: (...names) => {
      for (const name of names) if (flat.has(name)) read.add(name);
      return names.map((name) => flat.get(name)).find((value) => value !== undefined);
    },
    tree: (prefix) => {
      const names = namesUnder(prefix);
      const own = flat.get(prefix);
      for (const name of [prefix, ...names]) if (flat.has(name)) read.add(name);
      if (names.length === 0) return own === undefined ? undefined : nested(own);
      return nest(names.map((name) => [name.slice(prefix.length + 1), flat.get(name) ?? null]));
    },
    under: (prefix) => namesUnder(prefix).map((name) => name.slice(prefix.length + 1)),
    unread: () => [
      ...new Set(
        [...flat.keys()]
          .filter((name) => !read.has(name))
          .map((name) => name.replace(/(?<=\.)\d+(?=\.|$)/g, 'N')),
      ),
    ],
  };
};

/** So many names deep an object is taken for attributes with longer names. */
const MOST_NAMES = 16;

const flatten = (value: WideJsonObject, prefix: string, flat: Map<string, WideJson>, depth: number): void => {
  for (const [name, item] of Object.entries(value)) {
    if (isJsonObject(item) && depth < MOST_NAMES) flatten(item, `${prefix}${name}.`, flat, depth + 1);
    else if (item !== null) flat.set(`${prefix}${name}`, item);
  }
};

type Group = { leaf: WideJson | undefined; readonly rest: (readonly [string, WideJson])[] };

/** Values by dotted names as one value; where all names are numbers, it is a list. */
const nest = (entries: readonly (readonly [string, WideJson])[], depth = 0): WideJson => {
  const groups = new Map<string, Group>();
  for (const [name, value] of entries) {
    const dot = depth < MOST_NAMES ? name.indexOf('.') : -1;
    const first = dot === -1 ? name : name.slice(0, dot);
    if (isForbiddenKey(first)) continue;
    const group = groups.get(first) ?? { leaf: undefined, rest: [] };
    groups.set(first, group);
    if (dot === -1) group.leaf = value;
    else group.rest.push([name.slice(dot + 1), value]);
  }
  const made = [...groups].map(
    ([name, { leaf, rest }]) =>
      [name, rest.length > 0 ? nest(rest, depth + 1) : nested(leaf ?? null)] as const,
  );
  if (made.length > 0 && made.every(([name]) => /^\d{1,9}$/.test(name)))
    return made
      .toSorted(([a], [b]) => Number(a) - Number(b) || compareCodePoints(a, b))
      .map(([, item]) => item);
  return Object.fromEntries(made);
};

/** A value whose objects may have dotted names too. */
const nested = (value: WideJson): WideJson => {
  if (Array.isArray(value)) return (value as readonly WideJson[]).map(nested);
  if (!isJsonObject(value)) return value;
  return Object.keys(value).some((name) => name.includes('.')) ? nest(Object.entries(value)) : value;
};
