import { recordRun, tipOf, whileClaimed } from '@stemma/agent-loop';
import { fail, isStemmaError } from '@stemma/errors';
import { checkActor, checkNotes } from '@stemma/history';
import type { BranchRef, Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { defined } from '@stemma/values';
import { openBudget, type Budget } from './budget.ts';
import { doneIn, makeRound, type RoundContext, type RoundOutcome } from './round.ts';
import { readPool, type PoolState } from './pool-state.ts';
import type { PoolRun, PoolRunEnd, PoolRunOptions } from './run-types.ts';

/** How often somebody else may come in between in one round. */
const MOST_CONFLICTS = 100;

/**
 * Runs a pool for some rounds: in each, one mind is shown a sample and adds messages. What runs is what is recorded, so a run that was
 * stopped or killed goes on when it is started again, and observers may inject between two rounds. While one process of a directory runs
 * a pool, others do not: two would pay for each round twice.
 *
 * @throws E_BUSY, E_USAGE, E_NOT_A_POOL, E_POOL_TOO_SMALL, E_MIND_INVALID, E_MIND_KEY_MISSING, and what recording throws
 */
export const runPool = async (
  home: Home,
  branchRef: BranchRef,
  options: PoolRunOptions,
): Promise<PoolRun> => {
  const { rounds, actor, notes, checkpointEvery = rounds } = options;
  const { tokens = null, cost = null, seconds = null, now = () => performance.now() } = options;
  if (!Number.isSafeInteger(rounds) || rounds < 1) throw fail('E_USAGE', 'a run has at least one round');
  if (!Number.isSafeInteger(checkpointEvery) || checkpointEvery < 1)
    throw fail('E_USAGE', 'there is at least one round between two checkpoints');
  // Nobody pays for rounds whose intervention is refused in the end.
  checkActor(actor);
  checkNotes(notes ?? '');
  const budget = openBudget({ tokens, cost, seconds });
  return whileRunning(home, branchRef, async () => {
    const begun = now();
    const state = await readPool(home, branchRef);
    const from = await doneIn(home, branchRef, state);
    return runRounds(home, branchRef, state, {
      ...options,
      by: { actor, ...defined({ notes }) },
      from,
      until: from + rounds,
      checkpoint: { every: checkpointEvery, round: from, since: await tipOf(home, branchRef) },
      checkpointId: (round, { seq }) => `pool.${branchRef.branchId}.run-${round}-${seq}`,
      budget,
      stop: () => Promise.resolve(budget.over((now() - begun) / 1000)),
    });
  });
};

/** What `act` gives while no other process of the directory runs the branch. @throws E_BUSY, what `act` throws */
export const whileRunning = <T>(home: Home, branchRef: BranchRef, act: () => Promise<T>): Promise<T> =>
  // No id of a run has a space.
  whileClaimed(home, branchRef.history, `pool ${branchRef.branchId}`, act);

/** Rounds that are made up to one, and what is recorded of them. */
export type RoundsToRun = Pick<PoolRunOptions, 'minds' | 'signal' | 'progress'> & {
  readonly by: { readonly actor: string; readonly notes?: string };
  /** The newest round that is done before. */
  readonly from: number;
  /** The last round. */
  readonly until: number;
  readonly checkpoint: {
    /** A `run` intervention is recorded after so many rounds, and at the end. */
    readonly every: number;
    /** The newest round that one stands behind, and the position there. */
    readonly round: number;
    readonly since: Position;
  };
  /** The id of the command that records one. */
  readonly checkpointId: (round: number, since: Position) => string;
  readonly budget: Budget;
  /** Why no further round is made; null: one is. */
  readonly stop: () => Promise<Pick<Ending, 'ended' | 'why'> | null>;
  /** True: no `run` intervention stands where the run is cancelled, since another process goes on. */
  readonly isHandedOver?: boolean;
};

/** Makes rounds up to one. The caller has claimed the branch. @throws as {@link runPool} */
export const runRounds = async (
  home: Home,
  branchRef: BranchRef,
  begin: PoolState,
  options: RoundsToRun,
): Promise<PoolRun> => {
  const { by, from, until, checkpointId, budget, stop, isHandedOver = false } = options;
  const { signal = new AbortController().signal, progress = () => undefined } = options;
  const context: RoundContext = { home, branchRef, minds: options.minds ?? {}, signal };
  const { every, ...before } = options.checkpoint;
  let checkpointed = before;
  let state = begin;
  let done = from;
  let added = 0;

  const checkpoint = async (): Promise<void> => {
    if (done <= checkpointed.round) return;
    const { since } = checkpointed;
    await recordRun(home, branchRef, {
      id: checkpointId(done, since),
      ...by,
      rounds: done - checkpointed.round,
      total: done,
      since,
    });
    checkpointed = { round: done, since: await tipOf(home, branchRef) };
    state = { ...state, seq: checkpointed.since.seq };
  };
  const goOn = async (): Promise<Ending> => {
    // Whoever made these rounds was gone before their intervention was recorded.
    if (done - checkpointed.round >= every) await checkpoint();
    while (done < until) {
      if (signal.aborted) return cancelled;
      const stopped = await stop();
      if (stopped !== null) return { ...stopped, error: null };
      const outcome = await withoutConflicts(context, state, until);
      state = outcome.state;
      if (outcome.error !== null)
        return outcome.error.code === 'E_CANCELLED'
          ? cancelled
          : { ended: 'failed', why: outcome.error.message, error: outcome.error };
      if (outcome.done === null) {
        done = await doneIn(home, branchRef, state);
        continue;
      }
      const { round } = outcome.done;
      done = round;
      added += outcome.done.added.length;
      budget.spend(outcome.done);
      progress(outcome.done);
      if (done - checkpointed.round >= every && done < until) await checkpoint();
    }
    return { ended: 'rounds', why: `all ${until - from} rounds are done`, error: null };
  };

  let ending: Ending;
  try {
    ending = await goOn();
  } catch (error) {
    if (!signal.aborted) {
      await checkpoint();
      throw error;
    }
    ending = cancelled;
  }
  if (ending.ended !== 'cancelled' || !isHandedOver) await checkpoint();
  const { history, branch, branchId, label } = await tipOf(home, branchRef);
  const { round } = state;
  const tokens = budget.tokens();
  return { history, branch, branchId, position: label, rounds: done - from, round, added, tokens, ...ending };
};

type Ending = Pick<PoolRun, 'why' | 'error'> & { readonly ended: PoolRunEnd };

const cancelled: Ending = {
  ended: 'cancelled',
  why: 'it was cancelled',
  error: { code: 'E_CANCELLED', message: 'it was cancelled' },
};

/**
 * A round that is made although others write to the branch meanwhile; none, if they made all up to the last one. Another runner that
 * makes the same round uses the same ids: the log decides whose frame counts.
 */
const withoutConflicts = async (
  context: RoundContext,
  known: PoolState,
  until: number,
): Promise<RoundOutcome> => {
  const { home, branchRef } = context;
  let state = known;
  for (let conflicts = 0; ; conflicts++)
    try {
      return await makeRound(context, state);
    } catch (error) {
      const isRival = isStemmaError(error, 'E_CONFLICT') || isStemmaError(error, 'E_COMMAND_REUSED');
      if (!isRival || conflicts === MOST_CONFLICTS) throw error;
      await home.catchUp();
      state = await readPool(home, branchRef);
      if ((await doneIn(home, branchRef, state)) >= until) return { state, done: null, error: null };
    }
};
