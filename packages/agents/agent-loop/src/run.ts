import { fail } from '@stemma/errors';
import type { BranchRef, Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { defined } from '@stemma/values';
import { tipOf } from './find-tip.ts';

/** @throws E_USAGE for an id that other ids cannot be made of */
export const checkRun = (run: string): void => {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(run))
    throw fail('E_USAGE', 'the id of a run has 1 to 64 letters, digits, _ or -');
};

/**
 * What `act` gives, while nobody else makes calls of the run: two processes of one run would pay twice.
 *
 * @throws E_BUSY, what `act` throws
 */
export const whileClaimed = async <T>(
  home: Pick<Home, 'calls'>,
  history: string,
  run: string,
  act: () => Promise<T>,
): Promise<T> => {
  const release = home.calls.claimRun(`${history} ${run}`);
  try {
    return await act();
  } finally {
    release();
  }
};

/** Records that a run ended, once: who had it done, why, and how many calls it made since where. */
export const endRun = async (
  home: Pick<Home, 'submit' | 'read' | 'position'>,
  branchRef: BranchRef,
  {
    run,
    actor,
    notes,
    calls,
    since,
  }: {
    readonly run: string;
    readonly actor: string;
    readonly notes?: string;
    readonly calls: number;
    readonly since: Position;
  },
): Promise<void> => {
  const tip = await tipOf(home, branchRef);
  if (tip.seq === since.seq && tip.branchId === since.branchId) return;
  const [newest] = await home.read.events(branchRef.history, { from: tip.seq, limit: 1 });
  if (newest?.command.startsWith(`${run}.end-`) === true) return;
  await recordRun(home, branchRef, {
    id: `${run}.end-${tip.seq}`,
    actor,
    ...defined({ notes }),
    rounds: calls,
    total: tip.cycle ?? 0,
    since,
  });
};

/** Records that so many rounds ran on their own since a position: an intervention of the actor who had them run. */
export const recordRun = async (
  home: Pick<Home, 'submit'>,
  { history, branchId }: BranchRef,
  {
    id,
    actor,
    notes,
    rounds,
    total,
    since,
  }: {
    /** Of the command. */
    readonly id: string;
    readonly actor: string;
    readonly notes?: string;
    readonly rounds: number;
    /** The rounds of the branch then. */
    readonly total: number;
    readonly since: Position;
  },
): Promise<void> => {
  await home.submit({
    id,
    history,
    branchId,
    by: { actor },
    ...defined({ notes }),
    steps: [
      {
        op: 'run',
        rounds,
        total_rounds_after: total,
        since: { branchId: since.branchId, seq: since.seq },
      },
    ],
  });
};
