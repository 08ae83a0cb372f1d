import type { Cause } from '@stemma/history';
import type { RequestChange } from '@stemma/model-apis';
import type { Origin } from '../origin-types.ts';

/** The sizes of two consecutive calls, and of their common prefix. */
export type Measure = { readonly before: number; readonly after: number; readonly shared: number };

/**
 * How a call's thread follows the one before it. `append`: the old one is a prefix of the new one, so a prefix cache
 * could serve all of it; `rewind`: the new one is a prefix of the old one; `break`: neither.
 */
export type CacheVerdict = 'append' | 'rewind' | 'break';

/** Why the common prefix ends where it ends. */
export type BreakCause = {
  /** The first message that differs: one that was removed, changed or moved, or one that was inserted in front. */
  readonly node: string;
  readonly what: 'removed' | 'changed' | 'added' | 'moved';
  readonly cause: Cause | null;
  /** Event, command, author and time. Null if no event between the two calls explains it. */
  readonly origin: Origin | null;
  /** Of an expired or pruned node, the event that inserted it, and so gave it its `ttl` or priority. */
  readonly entered: Origin | null;
};

/** One call compared with the one before it on the ancestor path. */
export type CacheStep = {
  /** Labels of snapshots: `@c4`. */
  readonly from: string;
  readonly to: string;
  readonly verdict: CacheVerdict;
  readonly messages: Measure;
  readonly bytes: Measure;
  readonly tokens: Measure;
  /** Null for `append`, and where the tools differ. */
  readonly broken: BreakCause | null;
  /** Tools that differ: they come before all messages, so nothing is shared. */
  readonly tools: readonly RequestChange[];
  /** Tokens of the later call that its provider says it read from its cache; null: it does not say. */
  readonly cached: number | null;
};

export type CacheTotal = {
  /** Of all calls together, including the first. */
  readonly sent: number;
  /** How much of it was a prefix of the call before. */
  readonly shared: number;
};

/** What a prefix cache could have served of everything that a branch's calls sent. */
export type CacheReport = {
  readonly history: string;
  readonly branch: string;
  readonly branchId: number;
  /** The encoding that tokens are counted in. */
  readonly tokenizer: string;
  readonly calls: number;
  readonly verdicts: Readonly<Record<CacheVerdict, number>>;
  readonly messages: CacheTotal;
  readonly bytes: CacheTotal;
  readonly tokens: CacheTotal;
  /** Indexes of the steps that lost most tokens of what had been sent before, the worst first; at most ten. */
  readonly worst: readonly number[];
  readonly steps: readonly CacheStep[];
};
