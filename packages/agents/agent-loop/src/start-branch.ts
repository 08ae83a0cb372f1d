import { fail } from '@stemma/errors';
import { branchRefOf, type BranchRef, type Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { defined } from '@stemma/values';
import type { ContinueOptions } from './continue-types.ts';
import { tipOf } from './find-tip.ts';

/** Where a run goes on. */
export type RunBranch = {
  readonly branchRef: BranchRef;
  /** What it goes on from. */
  readonly since: Position;
  /** True if the branch was started for it. */
  readonly isOwn: boolean;
};

/** What a run records first, if it records anything. */
const firstIds = (run: string): readonly string[] => [`${run}.c0.answer`, `${run}.c1`];

/**
 * The branch of a run: that of its position if that is the tip, else a fork, made once however often the run is started.
 *
 * @throws E_RUN_REUSED if the run began elsewhere, or with another name
 */
export const startBranch = async (
  home: Home,
  found: BranchRef,
  asked: Position,
  { run, actor, notes, at, name }: ContinueOptions,
): Promise<RunBranch> => {
  const { history } = found;
  const forkId = `${run}.fork`;
  const forked = await home.read.findCommand(history, forkId);
  if (forked !== undefined) {
    const { branches } = await home.read.history(history);
    const fork = branches.find(({ branchId }) => branchId === forked.branchId);
    if (at !== undefined && fork?.at !== asked.seq)
      throw fail('E_RUN_REUSED', `${run} did not begin at ${at}: give the run another id`);
    if (name !== undefined && fork?.name !== name)
      throw fail('E_RUN_REUSED', `the fork of ${run} is not called ${name}: give the run another id`);
    return branchOfFork(home, history, forked.branchId);
  }
  for (const id of firstIds(run)) {
    const begun = await home.read.findCommand(history, id);
    if (begun === undefined) continue;
    if (name !== undefined)
      throw fail('E_RUN_REUSED', `${run} made no fork that is called ${name}: give the run another id`);
    const branchRef = branchRefOf(history, begun.branchId);
    const since = await home.position(branchRef, `@s${Math.max(begun.seq - 1, begun.branchId)}`);
    return { branchRef, since, isOwn: false };
  }
  const tip = await tipOf(home, found);
  const isTip = asked.branchId === tip.branchId && asked.seq === tip.seq;
  if (isTip && name === undefined) return { branchRef: found, since: asked, isOwn: false };
  const started = await home.submit({
    id: forkId,
    history,
    branchId: found.branchId,
    by: { actor },
    ...defined({ notes }),
    steps: [
      {
        op: 'fork',
        name: name ?? null,
        description: `continued from ${at ?? 'the tip'}`,
        at: { branchId: asked.branchId, seq: asked.seq },
      },
    ],
  });
  return branchOfFork(home, history, started.branchId);
};

const branchOfFork = async (home: Home, history: string, branchId: number): Promise<RunBranch> => {
  const branchRef = branchRefOf(history, branchId);
  return { branchRef, since: await home.position(branchRef, `@s${branchId}`), isOwn: true };
};
