import { canonicalJson, sha256Hex, type WideJson } from '@stemma/canonical';
import { fail, issueText } from '@stemma/errors';
import { z } from 'zod';

/** The most branches that a plan may make. */
const MOST_RUNS = 1_000;

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'is letters, digits, _ and -, at most 64');
const round = z.int().min(0).max(1_000_000);
const json = z.custom<WideJson>((value) => value !== undefined);
const notes = z.string().max(4_096).optional();

const Intervention = z.union([
  z.strictObject({ inject: z.string().min(1), source: z.string().min(1).max(512).optional(), notes }),
  z.strictObject({ config: z.record(z.string(), json), notes }),
]);

/** The pool that the arms part from, if the plan starts one. */
const NewPool = z.strictObject({
  name,
  messages: z.array(z.string().min(1)).min(1).max(100_000),
  system: z.string().optional(),
  settings: z.record(z.string(), json).optional(),
});

const Plan = z.strictObject({
  /** What is asked. */
  question: z.string().min(1).max(4_096),
  pool: NewPool.optional(),
  /** A pool that is there: a history or branch, by id or name. */
  history: z.string().min(1).optional(),
  /** The position of it that arms part from. Default: as it is when the plan first runs. */
  at: z.string().min(1).optional(),
  /** The round of the pool that the plan starts at which arms part. */
  part_at: round.optional(),
  arms: z
    .array(z.strictObject({ name, interventions: z.array(Intervention).max(1_000) }))
    .min(2)
    .max(100),
  repeats: z.int().min(1).max(MOST_RUNS),
  /** A seed for each run, those of the first arm first. Default: 1, 2, 3, … */
  seeds: z.array(z.int().min(0).max(0xffff_ffff)).optional(),
  /** Default: those of the pool. */
  minds: z.array(z.string().min(1)).min(1).max(100).optional(),
  rounds: z.int().min(1).max(1_000_000),
  /** The pairs of arms that are compared, and how. */
  measures: z.strictObject({
    verdicts: z
      .array(z.tuple([name, name]))
      .min(1)
      .max(1_000),
    permutations: z.int().min(1).max(1_000_000).optional(),
    seed: z.int().min(0).optional(),
  }),
});

/** An experiment that is decided before it runs. */
export type ExperimentPlan = z.infer<typeof Plan>;

/** True for a document that is meant as a plan, whatever is wrong with it. */
export const isPlan = (value: WideJson): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && 'arms' in value;

/** Whatever is the same plan has the same hash, however it is written down. */
export const planHash = (plan: ExperimentPlan): string =>
  sha256Hex(Buffer.from(canonicalJson(plan as unknown as WideJson)));

/** The plan in an untrusted value. @throws E_PLAN_INVALID if it is none, or contradicts itself */
export const parsePlan = (value: unknown): ExperimentPlan => {
  const read = Plan.safeParse(value);
  if (!read.success) throw fail('E_PLAN_INVALID', issueText(read.error.issues, 'the plan').sentence);
  const plan = read.data;
  const fault = contradictionIn(plan);
  if (fault !== undefined) throw fail('E_PLAN_INVALID', `the plan contradicts itself: ${fault}`);
  return plan;
};

const contradictionIn = (plan: ExperimentPlan): string | undefined => {
  const { pool, history, at, part_at: partAt, arms, repeats, seeds, measures } = plan;
  const names = arms.map((arm) => arm.name);
  const runs = arms.length * repeats;
  if ((pool === undefined) === (history === undefined))
    return 'it has either a pool or a history, not both and not none';
  if (pool !== undefined && at !== undefined)
    return '`at` is a position of a history that is there; of a new pool, give part_at';
  if (history !== undefined && partAt !== undefined)
    return '`part_at` is a round of a new pool; of a history, give at';
  const twice = names.find((each, i) => names.indexOf(each) < i);
  if (twice !== undefined) return `two arms have the name ${twice}`;
  if (runs > MOST_RUNS)
    return `${arms.length} arms with ${repeats} repeats are ${runs} runs; there may be ${MOST_RUNS}`;
  if (seeds !== undefined && seeds.length !== runs)
    return `there are ${seeds.length} seeds for ${arms.length} × ${repeats} runs`;
  if (seeds !== undefined && new Set(seeds).size < seeds.length)
    return 'two runs have the same seed, so that one would repeat the other';
  for (const [a, b] of measures.verdicts) {
    if (a === b) return `a verdict compares the arm ${a} with itself`;
    const unknown = [a, b].find((each) => !names.includes(each));
    if (unknown !== undefined) return `a verdict names the arm ${unknown}, which there is none of`;
  }
  for (const { name: arm, interventions } of arms)
    for (const intervention of interventions)
      if ('config' in intervention && 'seed' in intervention.config)
        return `the arm ${arm} sets the seed, which each run has of its own`;
  const size = pool?.settings?.['sample_size'];
  if (typeof size === 'number' && pool !== undefined && size > pool.messages.length)
    return `a round shows ${size} messages, and the pool begins with ${pool.messages.length}`;
  return undefined;
};
