import { fail } from '@stemma/errors';
import { isRerun } from '@stemma/history';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { CallAttempt } from '@stemma/queries';

/** The calls of a run on one branch, in the order in which they were recorded. */
export type RecordedRunBranch = {
  readonly history: string;
  readonly branchId: number;
  /** Its name within the recording: empty for the branch that was asked for. */
  readonly name: string;
  readonly attempts: readonly CallAttempt[];
  /** The last call of another branch that its first one goes on from; null: it begins anew. */
  readonly from: CallAttempt | null;
};

/** A recorded run: the calls that an agent made. `run`: the id under which they were recorded; null: under none. */
export type ChosenRun = { readonly run: string | null; readonly branches: readonly RecordedRunBranch[] };

/**
 * The newest recorded run of a history with all its conversations, in whichever histories they are; where no calls of the history
 * have the id of a run, all its calls.
 *
 * @param only a branch: nothing but the calls on the way to its tip
 * @param wanted the id of another run
 * @throws E_CALL_NOT_FOUND if there is none
 */
export const chooseRun = async (
  home: Pick<Home, 'calls' | 'read'>,
  { history }: BranchRef,
  only: BranchRef | null,
  wanted: string | null,
): Promise<ChosenRun> => {
  const own = only === null ? await branchesIn(home, history) : [await wholeBranch(home, only)];
  const run = wanted ?? newestRun(own);
  const others = run === null || only !== null ? [] : await home.calls.historiesOfRun(run);
  const branches = [...own];
  for (const other of others) if (other !== history) branches.push(...(await branchesIn(home, other)));
  const isPart = partOf(run, branches);
  const found = branches
    .map((branch) => ({ ...branch, attempts: branch.attempts.filter(isPart) }))
    .filter(({ attempts }) => attempts.length > 0);
  if (found.length > 0) return { run, branches: found.map(goingOn(found)).map(named(history)) };
  throw wanted === null
    ? fail(
        'E_CALL_NOT_FOUND',
        'no call of a model is recorded there: there is nothing to answer a rerun with',
      )
    : fail('E_CALL_NOT_FOUND', `no call there belongs to the run ${wanted.slice(0, 140)}`);
};

/**
 * Says which calls belong to a run. Without one, those that a recorder placed by what they say, if there are any: others in their history
 * are of people who asked a call again, or went on from it.
 */
const partOf = (
  run: string | null,
  branches: readonly RecordedRunBranch[],
): ((attempt: CallAttempt) => boolean) => {
  const isPlaced = branches.some(({ attempts }) => attempts.some(({ scope }) => scope !== null));
  return (attempt) =>
    attempt.reassignedTo === null &&
    attempt.run === run &&
    (run !== null || !isPlaced || attempt.scope !== null);
};

/**
 * A branch may go on from a call that several runs made alike: there each of them has an attempt of its own, and goes on from that.
 */
const goingOn =
  (branches: readonly RecordedRunBranch[]) =>
  (branch: RecordedRunBranch): RecordedRunBranch => {
    const { history, from } = branch;
    if (from === null) return branch;
    const own = branches
      .filter((each) => each.history === history)
      .flatMap(({ attempts }) => attempts)
      .filter(({ branchId, seq }) => branchId === from.branchId && seq === from.seq);
    const isOwn = own.some(({ attemptId }) => attemptId === from.attemptId);
    return { ...branch, from: isOwn ? from : (own.at(-1) ?? null) };
  };

const newestRun = (branches: readonly RecordedRunBranch[]): string | null => {
  let newest: CallAttempt | undefined;
  for (const { attempts } of branches)
    for (const attempt of attempts) {
      if (attempt.run === null || isRerun(attempt.run)) continue;
      if (newest === undefined || attempt.at >= newest.at) newest = attempt;
    }
  return newest?.run ?? null;
};

const PAGE = 1_000;

/** The branches of a history that have calls of their own, each with these. */
const branchesIn = async (
  home: Pick<Home, 'calls'>,
  history: string,
): Promise<readonly RecordedRunBranch[]> => {
  const taken = new Set<string>();
  const branches: RecordedRunBranch[] = [];
  for (const { branchId } of await home.calls.counts(history)) {
    const { attempts, name } = await wholeBranch(home, branchRefOf(history, branchId));
    const first = attempts.findIndex(({ attemptId }) => !taken.has(attemptId));
    if (first < 0) continue;
    const own = attempts.slice(first).filter(({ attemptId }) => !taken.has(attemptId));
    for (const { attemptId } of own) taken.add(attemptId);
    branches.push({ history, branchId, name, attempts: own, from: attempts[first - 1] ?? null });
  }
  return branches;
};

const wholeBranch = async (home: Pick<Home, 'calls'>, branch: BranchRef): Promise<RecordedRunBranch> => {
  const attempts: CallAttempt[] = [];
  for (let from: number | null = 0; from !== null;) {
    const page: Awaited<ReturnType<Home['calls']['list']>> = await home.calls.list(branch, {
      from,
      limit: PAGE,
    });
    attempts.push(...page.attempts);
    from = page.next;
  }
  const { history, branchId } = branch;
  return { history, branchId, name: '', attempts, from: null };
};

/** Of the history that was asked for, main has labels as they are; other branches have their number, other histories their id before them. */
const named =
  (asked: string) =>
  (branch: RecordedRunBranch): RecordedRunBranch => {
    const { history, branchId } = branch;
    if (history === asked) return { ...branch, name: branchId === 0 ? '' : String(branchId) };
    return { ...branch, name: branchId === 0 ? history : `${history}:${branchId}` };
  };
