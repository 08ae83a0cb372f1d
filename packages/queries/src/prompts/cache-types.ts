import type { Cause } from '@stemma/history';
import type { Origin } from '../origin-types.ts';

/** Of two calls in a row: before and after, and the common beginning of both. */
export type Measure = { readonly before: number; readonly after: number; readonly shared: number };

/**
 * How a call's thread follows the one before it. `append`: the old one is a beginning of the new one, so all of it could
 * be served from a prefix cache; `rewind`: the new one is a beginning of the old one; `break`: neither.
 */
export type CacheVerdict = 'append' | 'rewind' | 'break';

/** Why the beginning ends where it ends. */
export type BreakCause = {
  /** The first message that is not as before: the one that left, changed or moved, or the one that was put in front. */
  readonly node: string;
  readonly what: 'removed' | 'changed' | 'added' | 'moved';
  readonly cause: Cause | null;
  /** The recorded fact: event, command, author, time. Null where no event of the way between says it. */
  readonly origin: Origin | null;
  /** Where the node came in: of one that expired or was pruned, the act that gave it its `ttl` or priority. */
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
  /** Null for `append`. */
  readonly broken: BreakCause | null;
};

export type CacheTotal = {
  /** Of all calls together, the first too. */
  readonly sent: number;
  /** As much of it stood at the beginning of the call before. */
  readonly shared: number;
};

/** What a cache of prefixes could have served of all that a branch's calls sent. */
export type CacheReport = {
  readonly history: string;
  readonly branch: string;
  /** The encoding that tokens are counted in. */
  readonly tokenizer: string;
  readonly calls: number;
  readonly verdicts: Readonly<Record<CacheVerdict, number>>;
  readonly messages: CacheTotal;
  readonly bytes: CacheTotal;
  readonly tokens: CacheTotal;
  /** Indexes of the steps that lost most tokens of what had been sent before, the worst first; ten at the most. */
  readonly worst: readonly number[];
  readonly steps: readonly CacheStep[];
};
