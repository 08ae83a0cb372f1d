import type { Depths } from './syntax.ts';

/** True for the depths of an expression. Constant time, however long its list is. */
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

/** The least and the greatest depth of an expression. */
export const depthBounds = (depths: Depths): { readonly minDepth: number; readonly maxDepth: number } => {
  switch (depths.kind) {
    case 'list': {
      let minDepth = Infinity;
      let maxDepth = -Infinity;
      for (const value of depths.values) {
        minDepth = Math.min(minDepth, value);
        maxDepth = Math.max(maxDepth, value);
      }
      return { minDepth, maxDepth };
    }
    case 'span':
      return { minDepth: depths.from, maxDepth: depths.to };
    case 'order':
      return BOUNDS[depths.op](depths.value);
  }
};

const BOUNDS: { readonly [op in Order]: (value: number) => { minDepth: number; maxDepth: number } } = {
  '<': (value) => ({ minDepth: -Infinity, maxDepth: value - 1 }),
  '<=': (value) => ({ minDepth: -Infinity, maxDepth: value }),
  '>': (value) => ({ minDepth: value + 1, maxDepth: Infinity }),
  '>=': (value) => ({ minDepth: value, maxDepth: Infinity }),
};

/** Whether an expression means all sealed turns (whatever their depth), none of them, or some. */
export const turnsMeant = (depths: Depths): 'all' | 'none' | 'some' => {
  const { minDepth, maxDepth } = depthBounds(depths);
  if (maxDepth < 1) return 'none';
  return depths.kind === 'order' && minDepth <= 1 && maxDepth === Infinity ? 'all' : 'some';
};
