import type { WideJsonObject } from '@stemma/canonical';
import type { ErrorCode } from '@stemma/errors';
import type { TextDifference } from '@stemma/model-apis';
import type { CallAttempt, UnresolvedStep } from '@stemma/queries';
import type { MindsOptions } from './call-settings.ts';
import type { ToolCall } from './chat-message.ts';

/** What is sent in place of what was: whole messages, or steps that change what the position shows. */
export type RetryEdit =
  { readonly messages: readonly WideJsonObject[] } | { readonly steps: readonly UnresolvedStep[] };

/** How to ask a call again. */
export type RetryOptions = {
  /** The id of the run: given again, the run makes only what is missing. */
  readonly run: string;
  readonly actor: string;
  readonly notes?: string;
  /** Default: the model that was called. */
  readonly minds?: readonly string[];
  /** How often each is asked. Default 1. */
  readonly times?: number;
  /** Parameters of the request; null takes one away. */
  readonly set?: WideJsonObject;
  readonly edit?: RetryEdit;
  /** What the names of the forks begin with; each has its number behind it. Default: the position and the run. */
  readonly name?: string;
  /** The most calls at a time. Default 4. */
  readonly parallel?: number;
  readonly surroundings?: MindsOptions;
  readonly signal?: AbortSignal;
  readonly say?: (sentence: string) => void;
};

/** An answer, as it is set beside others. */
export type SeenAnswer = {
  readonly attempt: CallAttempt | null;
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
};

/** What a call was answered when it was asked again. */
export type RetriedAnswer = SeenAnswer & {
  readonly mind: string;
  readonly branch: string;
  readonly branchId: number;
  readonly name: string;
  /** `recorded`: the recorded bytes; `set`: these with other fields; `written`: a body of its own. */
  readonly request: 'recorded' | 'set' | 'written';
  readonly dropped: readonly string[];
  readonly error: { readonly code: ErrorCode; readonly message: string } | null;
  /** What differs from the first answer; null: there is no answer, or none to compare with. */
  readonly differences: readonly TextDifference[] | null;
  readonly isSameText: boolean | null;
  /** True if the same tools are called with the same arguments. */
  readonly isSameTools: boolean | null;
};

/** A call that was asked again, beside its first answer. */
export type RetriedCall = {
  readonly run: string;
  readonly history: string;
  /** The position that it was made with. */
  readonly position: string;
  /** Null: nobody recorded what was answered. */
  readonly first: SeenAnswer | null;
  readonly answers: readonly RetriedAnswer[];
  /** Of so many answers so many call the tools that the first one called. */
  readonly sameTools: { readonly count: number; readonly of: number };
};
