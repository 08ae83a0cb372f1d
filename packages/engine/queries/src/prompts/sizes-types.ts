import type { RoleTokens } from '@stemma/read-models';

/** Tokens by where their messages stand, and by who says them; each adds up to `tokens`. */
export type PromptParts = {
  /** Under `^sys`, in turns but the newest, in the newest turn, in the active head. */
  readonly regions: {
    readonly sys: number;
    readonly earlier: number;
    readonly turn: number;
    readonly head: number;
  };
  readonly roles: RoleTokens;
};

/** The prompt of one call in numbers. */
export type PromptSize = PromptParts & {
  readonly cycle: number;
  readonly branchId: number;
  readonly seq: number;
  /** When its snapshot was recorded, milliseconds since 1970. */
  readonly at: number;
  readonly messages: number;
  readonly tokens: number;
  /** Messages that the call before was not shown, by the ids of their nodes, and those that only it was shown. */
  readonly entered: number;
  readonly removed: number;
};

/** Which calls are wanted: those after a cycle (all, unless said), and how many at the most. */
export type SizesOptions = { readonly after?: number; readonly limit?: number };

/** The prompts of a branch in numbers, oldest first. */
export type PromptSizes = {
  readonly tokenizer: string;
  readonly sizes: readonly PromptSize[];
  /** True if the limit left out later calls. */
  readonly hasMore: boolean;
};
