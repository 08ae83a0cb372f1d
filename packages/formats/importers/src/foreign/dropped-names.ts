import type { WideJsonObject } from '@stemma/canonical';
import type { ForeignDropped } from './item.ts';

/** Counts what is recorded nowhere, by names; so many different names are told apart. */
export type DroppedNames = {
  readonly add: (what: string, count?: number) => void;
  /** Counts the fields of an object that are none of `known` and say something. */
  readonly fields: (of: string, object: WideJsonObject, known: ReadonlySet<string>) => void;
  readonly items: () => readonly ForeignDropped[];
};

const MOST_NAMES = 10_000;
const OTHERS = 'others';

export const openDroppedNames = (): DroppedNames => {
  const counts = new Map<string, number>();
  const add = (what: string, count = 1): void => {
    const name = counts.has(what) || counts.size < MOST_NAMES ? what : OTHERS;
    counts.set(name, (counts.get(name) ?? 0) + count);
  };
  return {
    add,
    fields: (of, object, known) => {
      for (const [name, value] of Object.entries(object))
        if (!known.has(name) && !saysNothing(value)) add(`${of} ${name}`);
    },
    items: () => [...counts].map(([what, count]) => ({ kind: 'dropped', what, count })),
  };
};

/** True for null, false, and a text, a list or an object without anything in it. */
const saysNothing = (value: unknown): boolean =>
  value === null ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);
