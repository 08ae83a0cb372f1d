import type { MindsOptions } from '@stemma/agent-loop';
import type { ErrorCode } from '@stemma/errors';
import type { CallPrice } from '@stemma/model-apis';

/** Why a run of rounds ended. Whatever it is, the pool can run on. */
export type PoolRunEnd =
  /** All rounds are done. */
  | 'rounds'
  /** The rounds took all tokens that they may take. */
  | 'tokens'
  /** The rounds cost all that they may cost. */
  | 'cost'
  /** They took all time that they may take. */
  | 'time'
  /** An actor ended it, or abandoned its branch. */
  | 'stopped'
  /** A mind did not answer. */
  | 'failed'
  | 'cancelled';

/** How a pool runs. */
export type PoolRunOptions = {
  readonly rounds: number;
  /** A `run` intervention is recorded after so many rounds, and at the end. Default: at the end only. */
  readonly checkpointEvery?: number;
  readonly actor: string;
  readonly notes?: string;
  /** The most tokens that the rounds take together. */
  readonly tokens?: number;
  /** The most that the rounds cost, a decimal number in the currency of the price table. */
  readonly cost?: string;
  /** The most seconds; the round that is on its way then is finished. */
  readonly seconds?: number;
  /** Names the minds, in place of the configuration's. */
  readonly minds?: MindsOptions;
  readonly signal?: AbortSignal;
  /** Hears of each round that is done. */
  readonly progress?: (round: PoolRound) => void;
  /** Milliseconds of a clock that never goes back. Default: the process's. */
  readonly now?: () => number;
};

/** A round that is done. */
export type PoolRound = {
  readonly round: number;
  readonly mind: string;
  /** The model that was asked. */
  readonly model: string | null;
  /** The ids of the messages that it showed, in the order in which it showed them. */
  readonly sampled: readonly string[];
  /** The ids of the messages that it added. */
  readonly added: readonly string[];
  readonly tokens: number;
  /** Null: the price table does not say. */
  readonly cost: CallPrice | null;
};

/** What a run came to. */
export type PoolRun = {
  readonly history: string;
  readonly branch: string;
  readonly branchId: number;
  /** The position after it. */
  readonly position: string;
  /** Rounds that were finished. */
  readonly rounds: number;
  /** The newest round of the branch. */
  readonly round: number;
  readonly added: number;
  readonly tokens: number;
  readonly ended: PoolRunEnd;
  readonly why: string;
  readonly error: { readonly code: ErrorCode; readonly message: string } | null;
};
