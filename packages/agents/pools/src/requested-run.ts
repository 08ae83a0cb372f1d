import { branchRefOf, type BranchRef, type Position } from '@stemma/history-store';
import { fail, isStemmaError, type ErrorCode } from '@stemma/errors';
import type { RunEndedHow } from '@stemma/events';
import { endOfRun, type Step } from '@stemma/history';
import type { Home } from '@stemma/home';
import type { RequestedRun } from '@stemma/queries';
import { tipOf, type MindsOptions } from '@stemma/agent-loop';
import { defined, millisecondsOf } from '@stemma/values';
import { openBudget, type Budget } from './budget.ts';
import { unitsOf } from '@stemma/values';
import { readPool } from './pool-state.ts';
import { doneIn } from './round.ts';
import { runRounds, whileRunning } from './run-pool.ts';
import type { PoolRound } from './run-types.ts';

/** Rounds that somebody asks a runner for. */
export type NewRun = {
  /** The id of the command, and of the run; given again, nothing happens twice. */
  readonly id: string;
  readonly actor: string;
  readonly notes?: string;
  readonly rounds: number;
  readonly checkpointEvery?: number;
  readonly tokens?: number;
  readonly cost?: string;
  readonly seconds?: number;
};

/** The most rounds of one run. */
const MOST_ROUNDS = 1_000_000;

/**
 * Asks that a pool runs on: a runner makes the rounds (`stemma runner`).
 *
 * @throws E_NOT_A_POOL, E_USAGE, and what `submit` throws
 */
export const requestRun = async (
  home: Home,
  branchRef: BranchRef,
  { id, actor, notes, rounds, checkpointEvery, tokens, cost, seconds }: NewRun,
): Promise<RequestedRun> => {
  if (cost !== undefined) unitsOf(cost);
  for (const [what, count] of Object.entries({ rounds, checkpointEvery, tokens, seconds }))
    if (
      count !== undefined &&
      (!Number.isSafeInteger(count) || count < 1 || (what === 'rounds' && count > MOST_ROUNDS))
    )
      throw fail(
        'E_USAGE',
        `${what} is ${count}, not a whole number from 1${what === 'rounds' ? ` to ${MOST_ROUNDS}` : ''}`,
      );
  await readPool(home, branchRef);
  const { history, branchId } = branchRef;
  const step: Step = {
    op: 'request_run',
    rounds,
    ...defined({ checkpoint_every: checkpointEvery, tokens, cost, seconds }),
  };
  const why = notes === undefined ? {} : { notes };
  await home.submit({ id, history, branchId, by: { actor }, ...why, steps: [step] });
  return home.queries.runs.find(history, id);
};

/**
 * Ends a run; the round that is on its way is finished, and not counted. One that is over stays as it is.
 *
 * @throws E_RUN_NOT_FOUND, and what `submit` throws
 */
export const stopRun = async (
  home: Home,
  history: string,
  run: string,
  { actor, notes }: { readonly actor: string; readonly notes?: string },
): Promise<RequestedRun> => {
  const found = await home.queries.runs.find(history, run);
  if (found.ended !== null) return found;
  await endRun(
    home,
    found,
    { how: 'stopped', why: `${actor} stopped it`, code: null, rounds: await roundsOf(home, found) },
    { actor, notes },
  );
  return home.queries.runs.find(history, run);
};

/**
 * Asks for the rounds that a run did not come to, with the same limits.
 *
 * @throws E_RUN_NOT_FOUND, E_USAGE if it is not over, or has no rounds left
 */
export const resumeRun = async (
  home: Home,
  history: string,
  run: string,
  { id, actor, notes }: Pick<NewRun, 'id' | 'actor' | 'notes'>,
): Promise<RequestedRun> => {
  const found = await home.queries.runs.find(history, run);
  if (found.ended === null) throw fail('E_USAGE', `the run ${run} goes on`);
  const branchRef = branchRefOf(history, found.branchId);
  const rounds = found.rounds - (await roundsOf(home, found));
  if (rounds < 1) throw fail('E_USAGE', `the run ${run} has no rounds left`);
  const { checkpointEvery, tokens, cost, seconds } = found;
  return requestRun(home, branchRef, {
    id,
    actor,
    rounds,
    ...defined({
      notes,
      checkpointEvery: checkpointEvery ?? undefined,
      tokens: tokens ?? undefined,
      cost: cost ?? undefined,
      seconds: seconds ?? undefined,
    }),
  });
};

/** How many rounds of a run are done; of one that is over, how many were when it ended. */
const roundsOf = async (
  home: Home,
  { history, branchId, rounds, begun, ended }: RequestedRun,
): Promise<number> => {
  if (begun === null) return 0;
  if (ended !== null) return ended.rounds ?? 0;
  const branchRef = branchRefOf(history, branchId);
  const done = await doneIn(home, branchRef, await readPool(home, branchRef));
  return Math.max(0, Math.min(rounds, done - begun.round));
};

/** A run as it is shown. */
export type RunView = {
  readonly history: string;
  readonly branchId: number;
  readonly run: string;
  readonly state: 'waiting' | 'running' | 'ended';
  readonly rounds: number;
  readonly done: number;
  readonly actor: string;
  readonly notes: string;
  /** Milliseconds since 1970: when it was asked for. */
  readonly at: number;
  readonly checkpointEvery: number | null;
  readonly tokens: number | null;
  readonly cost: string | null;
  readonly seconds: number | null;
  /** Who makes its rounds, or made the last one. */
  readonly runner: string | null;
  readonly ended: {
    readonly how: RunEndedHow;
    readonly why: string;
    readonly code: string | null;
    readonly at: number;
    /** The actor who ended it; null: its runner did. */
    readonly by: string | null;
    readonly notes: string;
  } | null;
};

/** How far a run is. */
export const viewRun = async (home: Home, run: RequestedRun): Promise<RunView> => {
  const { history, branchId, rounds, actor, notes, at, begun, ended } = run;
  const { checkpointEvery, tokens, cost, seconds } = run;
  return {
    history,
    branchId,
    run: run.run,
    state: ended !== null ? 'ended' : begun !== null ? 'running' : 'waiting',
    rounds,
    done: await roundsOf(home, run),
    actor,
    notes,
    at: millisecondsOf(at),
    checkpointEvery,
    tokens,
    cost,
    seconds,
    runner: begun?.runner ?? null,
    ended:
      ended === null
        ? null
        : {
            how: ended.how,
            why: ended.why,
            code: ended.code,
            at: millisecondsOf(ended.at),
            by: ended.by,
            notes: ended.notes,
          },
  };
};

/** The runs of a history, or of all, in the order in which they were asked for. */
export const viewRuns = async (
  home: Home,
  { history, open = false }: { readonly history?: string; readonly open?: boolean } = {},
): Promise<readonly RunView[]> => {
  const views: RunView[] = [];
  for (const run of await home.queries.runs.list(history))
    if (!open || run.ended === null) views.push(await viewRun(home, run));
  return views;
};

/** Who makes the rounds of requested runs. */
export type RunnerOptions = {
  /** What it calls itself in the log. */
  readonly runner: string;
  /** Aborts when it ends, or another one takes the run: nothing is recorded then. */
  readonly signal: AbortSignal;
  readonly minds?: MindsOptions;
  readonly progress?: (round: PoolRound) => void;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
};

/**
 * Makes the rounds of a run that somebody asked for, or those that are left of them, and records why it ended. A runner that takes the place of
 * one that is gone goes on with the same limits: what its rounds took before counts.
 *
 * @returns how the run ended; null: it is not over, since the signal aborted
 * @throws E_BUSY while another process of the directory runs the branch, what passes (log and rows are away), and damage
 */
export const serveRun = (
  home: Home,
  run: RequestedRun,
  options: RunnerOptions,
): Promise<RunEndedHow | null> =>
  whileRunning(home, branchRefOf(run.history, run.branchId), async () => {
    // Another process may have ended it before this one had the branch.
    const current = await home.queries.runs.find(run.history, run.run);
    if (current.ended !== null) return current.ended.how;
    try {
      return await makeRounds(home, current, options);
    } catch (error) {
      if (!isStemmaError(error) || error.row.retriable || options.signal.aborted || !ENDS.has(error.code))
        throw error;
      const { code, message } = error;
      await endRun(home, current, {
        how: 'failed',
        why: message.slice(0, 4096),
        code,
        rounds: await roundsOf(home, current).catch(() => null),
      });
      return 'failed';
    }
  });

/** Errors that end a run: the pool or its minds are not such that a round can be made. */
const ENDS: ReadonlySet<ErrorCode> = new Set([
  'E_NOT_A_POOL',
  'E_CONFIG_INVALID',
  'E_POOL_TOO_SMALL',
  'E_MIND_INVALID',
  'E_MIND_NOT_ALLOWED',
  'E_MIND_KEY_MISSING',
  'E_EMBEDDER_INVALID',
  'E_USAGE',
  'E_CONTENT_TOO_LARGE',
]);

const makeRounds = async (
  home: Home,
  run: RequestedRun,
  { runner, signal, minds, progress, clock }: RunnerOptions,
): Promise<RunEndedHow | null> => {
  const { history, branchId } = run;
  const branchRef = branchRefOf(history, branchId);
  const before = await readPool(home, branchRef);
  const done = await doneIn(home, branchRef, before);
  const budget = openBudget(run);
  const { round: from, seq, at } = await takeRun(home, run, runner, done);
  await spendBefore(home, branchRef, seq, budget);
  const begunAt = millisecondsOf(at);
  const every = run.checkpointEvery ?? run.rounds;
  const result = await runRounds(home, branchRef, await readPool(home, branchRef), {
    by: { actor: run.actor, notes: run.notes },
    from: done,
    until: from + run.rounds,
    checkpoint: { every, ...(await newestCheckpoint(home, run, { from, done, every, seq })) },
    checkpointId: (round) => checkpointId(run.run, round),
    budget,
    stop: async () => {
      const now = await home.queries.runs.find(history, run.run);
      if (now.ended !== null) return { ended: 'stopped', why: now.ended.why };
      if (now.isAbandoned) return { ended: 'stopped', why: 'a rollback abandoned its branch' };
      return budget.over((clock() - begunAt) / 1000);
    },
    isHandedOver: true,
    signal,
    ...defined({ minds, progress }),
  });
  const { ended, why, error } = result;
  if (ended === 'cancelled') return null;
  await endRun(home, run, {
    how: ended,
    why: ended === 'rounds' ? `all ${run.rounds} rounds are done` : why.slice(0, 4096),
    code: error?.code ?? null,
    rounds: Math.max(0, done + result.rounds - from),
  });
  return ended;
};

const checkpointId = (run: string, round: number): string => `${run}.checkpoint-${round}`;

/** Records who makes the rounds from now on, and says from where they count. */
const takeRun = async (
  home: Home,
  { history, branchId, run }: RequestedRun,
  runner: string,
  done: number,
): Promise<NonNullable<RequestedRun['begun']>> => {
  const { seq } = await tipOf(home, branchRefOf(history, branchId));
  await home.submit({
    // One that was killed and began again at the same frame is the same.
    id: `${run}.taken-${seq}-${runner}`.slice(0, 256),
    history,
    branchId,
    by: BY,
    steps: [{ op: 'take_run', run, runner, round: done }],
  });
  const { begun } = await home.queries.runs.find(history, run);
  if (begun === null) throw fail('E_INTERNAL', `the run ${run} was taken, and no runner has it`);
  return begun;
};

const BY = { recorder: 'runner' } as const;

/** Counts what the rounds of a run took, that another runner made. */
const spendBefore = async (
  home: Home,
  branchRef: BranchRef,
  since: number,
  budget: Budget,
): Promise<void> => {
  for (let from: number | null = 0; from !== null;) {
    const page = await home.calls.list(branchRef, { from, limit: 1_000 });
    for (const { seq, branchId, status, usage, cost, model } of page.attempts)
      if (branchId === branchRef.branchId && seq > since && status === 'answered')
        budget.spend({ model, cost, tokens: (usage?.input ?? 0) + (usage?.output ?? 0) });
    from = page.next;
  }
};

/** The newest `run` intervention of a run, or where it begun. */
const newestCheckpoint = async (
  home: Home,
  { history, branchId, run }: RequestedRun,
  {
    from,
    done,
    every,
    seq,
  }: { readonly from: number; readonly done: number; readonly every: number; readonly seq: number },
): Promise<{ readonly round: number; readonly since: Position }> => {
  const at = (frame: number): Promise<Position> =>
    home.position(branchRefOf(history, branchId), `@s${frame}`);
  const multiples = Math.floor((done - from) / every);
  // The last one of a run may stand behind fewer rounds than are between two.
  for (const round of [
    done,
    ...Array.from({ length: multiples }, (_, i) => from + every * (multiples - i)),
  ]) {
    const found = await home.read.findCommand(history, checkpointId(run, round));
    if (found !== undefined) return { round, since: await at(found.seq) };
  }
  return { round: from, since: await at(seq) };
};

const endRun = async (
  home: Home,
  { history, branchId, run }: RequestedRun,
  end: Pick<Extract<Step, { op: 'end_run' }>, 'how' | 'why' | 'code' | 'rounds'>,
  by?: { readonly actor: string; readonly notes: string | undefined },
): Promise<void> => {
  const author = by === undefined ? { by: BY } : { by: { actor: by.actor }, ...defined({ notes: by.notes }) };
  try {
    await home.submit({
      id: endOfRun(run),
      history,
      branchId,
      ...author,
      steps: [{ op: 'end_run', run, ...end }],
    });
  } catch (error) {
    // Somebody else ended it first.
    if (!isStemmaError(error, 'E_COMMAND_REUSED')) throw error;
  }
};
