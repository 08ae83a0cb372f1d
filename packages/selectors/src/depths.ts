import type { Depths } from './syntax.ts';

/** True for the depths that an expression means. Answers at once, however long its list is. */
export const depthTest = (depths: Depths): ((depth: number) => boolean) => {
  switch (depths.kind) {
    case 'list': {
      const wanted = new Set(depths.values);
      return (depth) => wanted.has(depth);
    }
    case 'span':
      return (depth) => depths.from <= depth && depth <= depths.to;
    case 'order':
      return ORDERS[depths.op](depths.value);
  }
};

type Order = Extract<Depths, { kind: 'order' }>['op'];

const ORDERS: { readonly [op in Order]: (value: number) => (depth: number) => boolean } = {
  '<': (value) => (depth) => depth < value,
  '<=': (value) => (depth) => depth <= value,
  '>': (value) => (depth) => depth > value,
  '>=': (value) => (depth) => depth >= value,
};

/** The least and the greatest depth that an expression can mean. */
export const depthBounds = (depths: Depths): { readonly least: number; readonly most: number } => {
  switch (depths.kind) {
    case 'list': {
      let least = Infinity;
      let most = -Infinity;
      for (const value of depths.values) {
        least = Math.min(least, value);
        most = Math.max(most, value);
      }
      return { least, most };
    }
    case 'span':
      return { least: depths.from, most: depths.to };
    case 'order':
      return BOUNDS[depths.op](depths.value);
  }
};

const BOUNDS: { readonly [op in Order]: (value: number) => { least: number; most: number } } = {
  '<': (value) => ({ least: -Infinity, most: value - 1 }),
  '<=': (value) => ({ least: -Infinity, most: value }),
  '>': (value) => ({ least: value + 1, most: Infinity }),
  '>=': (value) => ({ least: value, most: Infinity }),
};

/** Whether an expression means all sealed turns (whatever their depth), none of them, or some. */
export const turnsMeant = (depths: Depths): 'all' | 'none' | 'some' => {
  const { least, most } = depthBounds(depths);
  if (most < 1) return 'none';
  return depths.kind === 'order' && least <= 1 && most === Infinity ? 'all' : 'some';
};
