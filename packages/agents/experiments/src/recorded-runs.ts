import type { RecordedRun } from '@stemma/analysis';
import { fail } from '@stemma/errors';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { agentRuns } from './agent-runs.ts';
import { comparedBranch, eventsOfBranches, type ComparedBranch } from './branch-events.ts';
import { poolRuns } from './pool-runs.ts';

/** Two arms of an experiment: branches of one history, each a run. */
export type Arms = { readonly a: readonly BranchRef[]; readonly b: readonly BranchRef[] };

/** What the runs of two arms chose and said since all of them parted. */
export type RecordedArms = {
  /** What the branches are: `pool` or `agent`. */
  readonly kind: 'pool' | 'agent';
  readonly a: readonly RecordedRun[];
  readonly b: readonly RecordedRun[];
};

/**
 * Reads the runs of two arms from the log: from where all branches part, what each round or call chose, and what it said.
 *
 * @throws E_USAGE for branches of several histories, a branch that is named twice, or an arm that has done nothing since they parted
 */
export const recordedArms = async (
  home: Pick<Home, 'position' | 'branches' | 'read' | 'queries'>,
  { a, b }: Arms,
): Promise<RecordedArms> => {
  const all = [...a, ...b];
  const [first] = all;
  if (first === undefined || a.length === 0 || b.length === 0)
    throw fail('E_USAGE', 'each arm has at least one branch');
  if (all.some(({ history }) => history !== first.history))
    throw fail('E_USAGE', 'the branches are of several histories: a verdict needs where they part');
  const twice = all.find(({ branchId }, i) => all.findIndex((other) => other.branchId === branchId) < i);
  if (twice !== undefined) throw fail('E_USAGE', `the branch ${twice.branch} is named twice`);
  const branches: ComparedBranch[] = [];
  for (const branchRef of all) branches.push(await comparedBranch(home, branchRef, branchRef.branch));
  const events = await eventsOfBranches(home, first.history, branches);
  const { config } = await home.branches.config(await home.position(first));
  const kind = config['active_pool_size'] === undefined ? 'agent' : 'pool';
  const runs = kind === 'pool' ? await poolRuns(home, branches, events) : agentRuns(branches, events);
  const [ofA, ofB] = [runs.slice(0, a.length), runs.slice(a.length)];
  for (const { name, steps } of runs)
    if (steps.length === 0)
      throw fail(
        'E_USAGE',
        `${name} has done nothing since the branches parted: there is nothing to compare`,
      );
  return { kind, a: ofA, b: ofB };
};
