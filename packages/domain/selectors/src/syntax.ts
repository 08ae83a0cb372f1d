/** The grammar of context-tree §6 as data: the parts of a parsed selector, and the tables of its words. */

/**
 * One position of a branch, or all its snapshots. Without a marker a selector queries the working state (context-tree
 * §5).
 */
export type Marker =
  | { readonly kind: 'working' }
  | { readonly kind: 't'; readonly value: number }
  | { readonly kind: 'c'; readonly cycle: number }
  | { readonly kind: 's'; readonly seq: number }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'all' };

/** Snapshots from one end to the other, both included, the ends in either order. */
export type MarkerRange = {
  readonly kind: 'range';
  readonly of: 't' | 'c';
  readonly from: number;
  readonly to: number;
};

export type Selector = {
  readonly at: Marker | MarkerRange;
  readonly groups: readonly SelectorGroup[];
};

/** Compounds from left to right; the last one selects the nodes. */
export type SelectorGroup = readonly SelectorStep[];

export type SelectorStep = {
  readonly combinator: Combinator;
  readonly compound: Compound;
  readonly position: number;
};

/** The relation of a compound to the one on its left: none, any descendant, or child. */
export type Combinator = 'start' | 'descendant' | 'child';

export type Compound =
  | { readonly kind: 'any' }
  | { readonly kind: 'scope'; readonly depths: Depths }
  | {
      readonly kind: 'node';
      readonly root: Root | null;
      readonly id: string | null;
      readonly type: TypeName | null;
      readonly attributes: readonly Attribute[];
      readonly pseudos: readonly Pseudo[];
    };

export type TypeName = { readonly name: string; readonly sub: string | null };

/** `op` and `value` are null for `[key]`: present and not null. */
export type Attribute =
  | { readonly key: string; readonly op: null; readonly value: null; readonly position: number }
  | { readonly key: string; readonly op: Operator; readonly value: SelectorValue; readonly position: number };

/** A value of an attribute; an integer beyond ±(2^53−1) is a bigint, so that nanoseconds compare exactly. */
export type SelectorValue = null | boolean | number | bigint | string;

export type Depths =
  | { readonly kind: 'list'; readonly values: readonly number[] }
  | { readonly kind: 'span'; readonly from: number; readonly to: number }
  | { readonly kind: 'order'; readonly op: Ordering; readonly value: number };

export type Pseudo =
  | { readonly name: 'pre' | 'core' | 'post' | 'first' | 'last' }
  | { readonly name: 'nth'; readonly n: number }
  | { readonly name: 'contains'; readonly text: string }
  | { readonly name: 'depth'; readonly depths: Depths };

export const ROOTS = ['^root', '^sys', '^seq', '^ah'] as const;
export type Root = (typeof ROOTS)[number];

/** Longer ones first: the first match counts. */
export const OPERATORS = ['!=', '*=', '<=', '>=', '=', '<', '>'] as const;
export type Operator = (typeof OPERATORS)[number];
export type Ordering = Exclude<Operator, '=' | '!=' | '*='>;

/** Every pseudo with its kind of argument. A `:name` of a type that is one of these is a pseudo. */
export const PSEUDOS = {
  pre: null,
  core: null,
  post: null,
  first: null,
  last: null,
  nth: 'number',
  contains: 'text',
  depth: 'depths',
} as const satisfies Record<Pseudo['name'], null | 'number' | 'depths' | 'text'>;

/** Attributes that depend on snapshots: an error on the working state (context-tree §6, §10.23). */
export const SNAPSHOT_ATTRIBUTES: ReadonlySet<string> = new Set(['depth', 'age', 'born_turn']);

/** A longer selector is refused before it is parsed, so that hostile ones cost nothing. UTF-16 units. */
export const MAX_SELECTOR_LENGTH = 131_072;
