import type { Cause } from '../difference/difference.ts';
import type { Binding } from '../values/bindings.ts';

/** How a call of the report came out. */
export type CallResult =
  'same' | 'bound' | 'other order' | 'differs' | 'extra' | 'missing' | 'not kept' | 'live';

/** The document of `stemma rerun --json`. */
export type RerunReport = {
  readonly rerun: string;
  readonly of: string;
  readonly exit: number;
  /** Calls that are the same, in whatever order. */
  readonly same: number;
  readonly bound: number;
  readonly differs: number;
  readonly extra: number;
  readonly missing: number;
  readonly calls: readonly ReportedCall[];
  readonly world: readonly WorldDifference[];
};

export type ReportedCall = {
  /** Of the recorded call; of an extra one `+1`, `+2` and so on. */
  readonly label: string;
  readonly how: CallResult;
  readonly bindings: readonly Binding[];
  readonly difference: ReportedDifference | null;
  readonly led_to: LedTo | null;
};

export type ReportedDifference = {
  readonly message: number | null;
  readonly role: string | null;
  readonly a: string | null;
  readonly b: string | null;
  readonly cause: Cause | 'extra' | 'missing';
  /** The node of the message in the recording. */
  readonly node: string | null;
  /** The event that recorded it. */
  readonly by: string | null;
};

/** What was shown of a message after it, in the recording. */
export type LedTo = { readonly calls: number; readonly tokens: number };

/** A result that the agent's tools gave, in whose place the recorded one stood (`--tools recorded`). */
export type WorldDifference = {
  readonly call: string;
  readonly tool: string;
  readonly a: string;
  readonly b: string;
};
