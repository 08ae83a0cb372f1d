import { fail, type ErrorCode } from '@stemma/errors';
import type { BranchPosition } from '@stemma/events';
import type { Step } from '@stemma/history';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { finishedRound, runPool, startPool, type PoolRunOptions } from '@stemma/pools';
import { defined } from '@stemma/values';
import { planHash, type ExperimentPlan } from './plan.ts';

/** A run of an arm: a branch, and how far it is. */
export type PlanRun = {
  readonly arm: string;
  readonly branchRef: BranchRef;
  readonly name: string;
  readonly seed: number;
};

export type PlanProgress = { readonly done: number; readonly of: number };

/** What running a plan came to. */
export type RanPlan = {
  readonly hash: string;
  readonly history: string;
  readonly runs: readonly PlanRun[];
  /** Null: all rounds are done. */
  readonly error: { readonly code: ErrorCode; readonly message: string } | null;
};

type PlanOptions = {
  readonly actor: string;
  readonly minds?: PoolRunOptions['minds'];
  readonly signal?: AbortSignal;
  /** Runs that are on their way at the same time. Default 4. */
  readonly atOnce?: number;
  readonly progress?: (progress: PlanProgress) => void;
};

/**
 * Runs a plan, or goes on with one that was stopped or killed: each command has an id that follows from the plan, so that what is
 * recorded is not done again. The hash of the plan is recorded as a saved position before the first round (pool: Metrics and analysis).
 *
 * @throws what pools and commands throw
 */
export const runPlan = async (
  home: Home,
  plan: ExperimentPlan,
  {
    actor,
    minds,
    signal = new AbortController().signal,
    atOnce = 4,
    progress = () => undefined,
  }: PlanOptions,
): Promise<RanPlan> => {
  const hash = planHash(plan);
  const label = `plan-${hash.slice(0, 16)}`;
  const idOf = (what: string): string => `plan.${hash}.${what}`;
  const by = { actor };
  /** Records a step once. */
  const submit = async (
    { history, branchId }: BranchRef,
    what: string,
    step: Step,
    notes: string,
  ): Promise<{ readonly branchId: number }> =>
    (await home.read.findCommand(history, idOf(what))) ??
    (await home.submit({ id: idOf(what), history, branchId, by, notes, steps: [step] }));
  const base = await baseOf(home, plan, { hash, actor });
  const description = `plan ${hash}: ${plan.question}`;
  await submit(base, 'registered', { op: 'save', name: label, description }, description);
  const rounds = plan.arms.length * plan.repeats * plan.rounds;
  const context = { home, actor, notes: plan.question, signal, ...defined({ minds }) };
  const before = await runTo(context, base, plan.part_at ?? 0, () => undefined);
  if (before !== null) return { hash, history: base.history, runs: [], error: before };
  const seeds = plan.seeds ?? Array.from({ length: plan.arms.length * plan.repeats }, (_, i) => i + 1);
  const partsAt = await partingOf(home, plan, base, idOf);
  const runs: PlanRun[] = [];
  for (const { name, interventions } of plan.arms)
    for (let repeat = 1; repeat <= plan.repeats; repeat++) {
      const seed = seeds[runs.length] ?? 0;
      const what = `${name}.${repeat}`;
      const branchName = `${name}-${repeat}`;
      const forked = await submit(
        base,
        `${what}.fork`,
        { op: 'fork', name: branchName, at: partsAt },
        `${plan.question} Arm ${name}, run ${repeat}.`,
      );
      const branchRef = branchRefOf(base.history, forked.branchId);
      const set = { seed, ...defined({ minds: plan.minds }) };
      await submit(branchRef, `${what}.seed`, { op: 'config', set }, `the seed of run ${repeat}`);
      for (const [i, intervention] of interventions.entries()) {
        const { notes = plan.question } = intervention;
        const step: Step =
          'inject' in intervention
            ? {
                op: 'inject',
                text: intervention.inject,
                ...defined({ source: intervention.source }),
              }
            : { op: 'config', set: intervention.config };
        await submit(branchRef, `${what}.intervention-${i + 1}`, step, notes);
      }
      runs.push({
        arm: name,
        branchRef: await home.find(`${base.history}:${forked.branchId}`),
        name: branchName,
        seed,
      });
    }
  const from = await cycleAt(home, base, partsAt);
  let done = 0;
  const waiting = [...runs];
  const errors: NonNullable<RanPlan['error']>[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined && errors.length === 0; next = waiting.shift()) {
      const left = plan.rounds - ((await finishedRound(home, next.branchRef)) - from);
      done += plan.rounds - left;
      const error = await runTo(context, next.branchRef, from + plan.rounds, () =>
        progress({ done: ++done, of: rounds }),
      );
      if (error !== null) errors.push(error);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, atOnce) }, work));
  return { hash, history: base.history, runs, error: errors[0] ?? null };
};

/** The branch that arms part from. */
const baseOf = async (
  home: Home,
  plan: ExperimentPlan,
  { hash, actor }: { readonly hash: string; readonly actor: string },
): Promise<BranchRef> => {
  const { pool, history, question } = plan;
  if (pool === undefined) return home.find(history ?? '');
  const started = await startPool(home, {
    id: `plan.${hash}.start`,
    name: pool.name,
    by: { actor },
    notes: question,
    messages: pool.messages,
    ...defined({ system: pool.system }),
    settings: pool.settings ?? {},
  });
  return branchRefOf(started.history, 0);
};

/** Where arms part: decided once, and found again in the first fork that was recorded. */
const partingOf = async (
  home: Home,
  plan: ExperimentPlan,
  base: BranchRef,
  idOf: (what: string) => string,
): Promise<BranchPosition> => {
  const first = await home.read.findCommand(base.history, idOf(`${plan.arms[0]?.name ?? ''}.1.fork`));
  if (first !== undefined) {
    for (const { event } of await home.read.events(base.history, { from: first.seq, limit: 1 }))
      if (event.type === 'BranchStarted') return { branchId: event.parent, seq: event.at };
  }
  const { branchId, seq } = await home.position(base, plan.at);
  return { branchId, seq };
};

const cycleAt = async (home: Home, base: BranchRef, { branchId, seq }: BranchPosition): Promise<number> =>
  (await home.position(branchRefOf(base.history, branchId), `@s${seq}`)).cycle ?? 0;

type RunContext = Pick<PoolRunOptions, 'actor' | 'notes' | 'minds' | 'signal'> & { readonly home: Home };

/** Runs a branch up to a round. Null: it is there. */
const runTo = async (
  { home, ...options }: RunContext,
  branchRef: BranchRef,
  round: number,
  progress: () => void,
): Promise<RanPlan['error']> => {
  if (round === 0) return null;
  const left = round - (await finishedRound(home, branchRef));
  if (left <= 0) return null;
  const { error, ended, why } = await runPool(home, branchRef, { ...options, rounds: left, progress });
  if (error !== null) return error;
  if (ended !== 'rounds') throw fail('E_INTERNAL', `a run of a plan ended otherwise: ${why}`);
  return null;
};
