import type { RunVerdict } from '@stemma/analysis';
import { reasonOf } from '@stemma/errors';
import type { ArmFigures, LiveFigures, PassedComparison } from '@stemma/experiments';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import { askApart } from '../../analyse/ask-apart.ts';
import { exitCodeOf } from '../../child-command.ts';
import type { Context } from '../../command.ts';
import type { PreparedRerun } from '../prepare-rerun.ts';
import type { Arm } from './arms.ts';
import type { ArmRun } from './run-arms.ts';

/** One of the runs of an arm, and what its live calls took. */
export type MeasuredRun = ArmRun & { readonly live: LiveFigures };

/** How an arm came out beside the arm or the recording that it is compared with. */
export type MeasuredArm = {
  readonly arm: Arm;
  readonly figures: ArmFigures;
  readonly runs: readonly MeasuredRun[];
  /** Null: for what the others are compared with. */
  readonly against: ArmComparison | null;
};

export type ArmComparison = {
  /** Who passed how often there; null: that is not known. */
  readonly passed: { readonly passed: number; readonly tried: number } | null;
  /** Null: one side is a single run, or it is not known how often it passed. */
  readonly shares: PassedComparison | null;
  /** Whether they decide differently, or only tell it differently; null with `why`. */
  readonly verdict: RunVerdict | null;
  readonly why: string | null;
};

/** Measures the arms, and compares each with the control, or with the recording if there is none. */
export const compareArms = async (
  { signal }: Pick<Context, 'signal'>,
  prepared: PreparedRerun,
  arms: readonly Arm[],
  runs: readonly ArmRun[],
): Promise<readonly MeasuredArm[]> => {
  const { armFigures, comparePassed, liveFigures } = await import('@stemma/experiments');
  const { home } = prepared;
  const measured: { arm: Arm; figures: ArmFigures; runs: readonly MeasuredRun[] }[] = [];
  for (const arm of arms) {
    const own: MeasuredRun[] = [];
    for (const run of runs.filter((each) => each.arm === arm)) {
      const live = await liveFigures(
        home,
        run.forks.map(({ branch }) => branch),
      );
      own.push({ ...run, live });
    }
    const figures = armFigures(
      own.map(({ live, passed, startedAt, endedAt }) => ({ ...live, passed, ms: endedAt - startedAt })),
    );
    measured.push({ arm, figures, runs: own });
  }
  const control = measured.find(({ arm }) => arm.isControl);
  const other = control === undefined ? recordedArm(prepared) : armBranches(control.runs);
  const passed = control === undefined ? recordedPassed(prepared) : control.figures;
  const compared: MeasuredArm[] = [];
  for (const each of measured) {
    if (each === control) {
      compared.push({ ...each, against: null });
      continue;
    }
    const isJudged = passed !== null && passed.tried > 1 && each.figures.tried > 1;
    compared.push({
      ...each,
      against: {
        passed: passed && { passed: passed.passed, tried: passed.tried },
        shares: isJudged ? comparePassed(each.figures, passed) : null,
        ...(await judge(home, armBranches(each.runs), other, signal)),
      },
    });
  }
  return compared;
};

/** The branches of runs that left the recording: of each the first one. */
const armBranches = (runs: readonly ArmRun[]): readonly BranchRef[] =>
  runs.flatMap(({ forks: [first] }) => (first === undefined ? [] : [first.branch]));

/** The branch of the first call that is live. */
const recordedArm = ({ run, judged }: PreparedRerun): readonly BranchRef[] => {
  const [from = ''] = judged.from;
  const call = run.calls.get(from) ?? run.calls.values().next().value;
  return call === undefined ? [] : [branchRefOf(call.history, call.branchId)];
};

/** Whether the recorded run passed; null: nobody checked it, or recorded its end. */
const recordedPassed = ({ check, toStart: { program } }: PreparedRerun) =>
  check !== null || program === undefined
    ? null
    : { passed: exitCodeOf(program.end) === 0 ? 1 : 0, tried: 1 };

const judge = async (
  home: PreparedRerun['home'],
  a: readonly BranchRef[],
  b: readonly BranchRef[],
  signal: AbortSignal,
): Promise<Pick<ArmComparison, 'verdict' | 'why'>> => {
  if (a.length === 0) return { verdict: null, why: 'no call went to a provider' };
  const { recordedArms } = await import('@stemma/experiments');
  try {
    const arms = await recordedArms(home, { a, b });
    const question = { kind: 'verdict', a: arms.a, b: arms.b, options: {} } as const;
    return { verdict: await askApart(question, signal), why: null };
  } catch (error) {
    signal.throwIfAborted();
    return { verdict: null, why: reasonOf(error) };
  }
};
