import { recordRun, tipOf, whileClaimed } from '@stemma/agent-loop';
import { fail, isStemmaError } from '@stemma/errors';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { makeRound, type RoundContext } from './round.ts';
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
export const runPool = (home: Home, branchRef: BranchRef, options: PoolRunOptions): Promise<PoolRun> =>
  // No id of a run has a space.
  whileClaimed(home, branchRef.history, `pool ${branchRef.branchId}`, () =>
    runClaimed(home, branchRef, options),
  );

const runClaimed = async (home: Home, branchRef: BranchRef, options: PoolRunOptions): Promise<PoolRun> => {
  const {
    rounds,
    actor,
    notes,
    checkpointEvery = rounds,
    tokens: most = Infinity,
    seconds = Infinity,
  } = options;
  const { signal = new AbortController().signal, progress = () => undefined } = options;
  const { now = () => performance.now() } = options;
  if (!Number.isSafeInteger(rounds) || rounds < 1) throw fail('E_USAGE', 'a run has at least one round');
  if (!Number.isSafeInteger(checkpointEvery) || checkpointEvery < 1)
    throw fail('E_USAGE', 'there is at least one round between two checkpoints');
  const context: RoundContext = { home, branchRef, minds: options.minds ?? {}, signal };
  const begun = now();
  let state = await readPool(home, branchRef);
  let since = await tipOf(home, branchRef);
  let [done, sinceCheckpoint, added, tokens] = [0, 0, 0, 0];

  const checkpoint = async (): Promise<void> => {
    if (sinceCheckpoint === 0) return;
    await recordRun(home, branchRef, {
      id: `pool.${branchRef.branchId}.run-${state.round}-${since.seq}`,
      actor,
      ...(notes === undefined ? {} : { notes }),
      rounds: sinceCheckpoint,
      total: state.round,
      since,
    });
    since = await tipOf(home, branchRef);
    sinceCheckpoint = 0;
    state = { ...state, seq: since.seq };
  };
  const goOn = async (): Promise<Ending> => {
    while (done < rounds) {
      if (signal.aborted) return cancelled;
      if (tokens >= most)
        return { ended: 'tokens', why: `the rounds took ${tokens} of ${most} tokens`, error: null };
      if ((now() - begun) / 1000 >= seconds)
        return { ended: 'time', why: `the rounds took their ${seconds} seconds`, error: null };
      const outcome = await withoutConflicts(context, state);
      state = outcome.state;
      if (outcome.error !== null)
        return outcome.error.code === 'E_CANCELLED'
          ? cancelled
          : { ended: 'failed', why: outcome.error.message, error: outcome.error };
      if (outcome.done === null) continue;
      done++;
      sinceCheckpoint++;
      added += outcome.done.added.length;
      tokens += outcome.done.tokens;
      progress(outcome.done);
      if (sinceCheckpoint === checkpointEvery && done < rounds) await checkpoint();
    }
    return { ended: 'rounds', why: `all ${rounds} rounds are done`, error: null };
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
  await checkpoint();
  const { history, branch, branchId, label } = await tipOf(home, branchRef);
  const { round } = state;
  return { history, branch, branchId, position: label, rounds: done, round, added, tokens, ...ending };
};

type Ending = Pick<PoolRun, 'why' | 'error'> & { readonly ended: PoolRunEnd };

const cancelled: Ending = {
  ended: 'cancelled',
  why: 'it was cancelled',
  error: { code: 'E_CANCELLED', message: 'it was cancelled' },
};

/** A round that is made although others write to the branch meanwhile. */
const withoutConflicts = async (context: RoundContext, known: PoolState): ReturnType<typeof makeRound> => {
  let state = known;
  for (let conflicts = 0; ; conflicts++)
    try {
      return await makeRound(context, state);
    } catch (error) {
      if (!isStemmaError(error, 'E_CONFLICT') || conflicts === MOST_CONFLICTS) throw error;
      state = await readPool(context.home, context.branchRef);
    }
};
