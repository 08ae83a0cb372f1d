/** How a call of the report came out. */
export type CallResult =
  'same' | 'bound' | 'other order' | 'differs' | 'extra' | 'missing' | 'not kept' | 'live';

/** What was shown of a message after it, in the recording. */
export type LedTo = { readonly calls: number; readonly tokens: number };

/** A result that the agent's tools gave, in whose place the recorded one stood (`--tools recorded`). */
export type WorldDifference = {
  readonly call: string;
  readonly tool: string;
  readonly a: string;
  readonly b: string;
};
