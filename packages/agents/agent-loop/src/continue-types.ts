import type { WideJsonObject } from '@stemma/canonical';
import type { ErrorCode } from '@stemma/errors';
import type { CallAttempt } from '@stemma/queries';
import type { MindsOptions } from './call-settings.ts';
import type { ToolSource } from './tool-sources.ts';

/** Why a run ended. Whatever it is, the history can be continued. */
export type RunEnd =
  /** The model answered and calls no tool. */
  | 'done'
  /** All calls that it may make are made. */
  | 'calls'
  /** Its calls took all tokens that they may take. */
  | 'tokens'
  /** A tool was called whose result nobody knows. */
  | 'tools'
  /** The answer is cut off at a limit of tokens. */
  | 'length'
  /** The model, or a filter of its provider, refuses. */
  | 'refused'
  /** No answer came. */
  | 'failed'
  | 'cancelled';

/** How to go on from a position. */
export type ContinueOptions = {
  /** The id of the run: given again, the run goes on where it ended, and pays for no answer twice. */
  readonly run: string;
  readonly actor: string;
  readonly notes?: string;
  /** A reference to the position; default: the tip of the branch. Anything but the tip is forked first. */
  readonly at?: string;
  /** The name of the fork; with a name the tip is forked, too. */
  readonly name?: string;
  /** The most calls of the run. Default 1. */
  readonly calls?: number;
  /** The most tokens that the calls of the run take together. */
  readonly tokens?: number;
  /** Default: the model of the newest call before. */
  readonly mind?: string;
  /** Parameters of the request; null takes one away. */
  readonly set?: WideJsonObject;
  /** Asked one after the other. Default: the recording. */
  readonly tools?: readonly ToolSource[];
  readonly minds?: MindsOptions;
  readonly signal?: AbortSignal;
  /** Hears of what is done, in sentences. */
  readonly say?: (sentence: string) => void;
};

/** What a run came to. */
export type ContinuedRun = {
  readonly run: string;
  readonly history: string;
  readonly branch: string;
  readonly branchId: number;
  /** True if the run has a branch of its own. */
  readonly forked: boolean;
  /** The position after it. */
  readonly position: string;
  readonly mind: string;
  /** Its answered calls, and the one that failed at last. */
  readonly calls: readonly CallAttempt[];
  /** The newest answer, as a message; null: there is none. */
  readonly answer: WideJsonObject | null;
  readonly ended: RunEnd;
  readonly why: string;
  readonly error: { readonly code: ErrorCode; readonly message: string } | null;
  /** Parameters and tools of the call before that the mind's API has nothing like. */
  readonly dropped: readonly string[];
};
