import type { verdictDocument } from '@stemma/experiments';
import { figure, inWords } from '../../analyse/words.ts';
import { durationOf } from '../../call-cells.ts';
import { exitCodeOf } from '../../child-command.ts';
import type { Context } from '../../command.ts';
import { printable, table } from '../../output.ts';
import type { ArmComparison, MeasuredArm, MeasuredRun } from './compare-arms.ts';

/** What is said of all arms. */
export type ShownArms = {
  /** What ran again. */
  readonly of: string;
  /** As the command named the history. */
  readonly history: string;
  readonly times: number;
  readonly jobs: number;
  readonly exit: number;
  readonly arms: readonly MeasuredArm[];
};

/** Shows how often each arm passed, what it took, and how it differs from the control or the recording. */
export const showArms = async ({ output }: Pick<Context, 'output'>, shown: ShownArms): Promise<void> => {
  const { verdictDocument } = await import('@stemma/experiments');
  await output.result(documentOf(shown, verdictDocument), () => textOf(shown, output.width));
};

const documentOf = (
  { of, times, jobs, exit, arms }: ShownArms,
  verdictOf: typeof verdictDocument,
): object => ({
  ...{ of, times, jobs, exit, against: hasControl(arms) ? 'control' : 'recording' },
  arms: arms.map(({ arm, figures, runs, against }) => ({
    arm: arm.name,
    passed: figures.passed,
    tried: figures.tried,
    interval: [figures.interval.low, figures.interval.high],
    ...{ live_calls: figures.calls, tokens: figures.tokens, cost: figures.cost, ms: figures.ms },
    reruns: runs.map((run) => ({
      ...{ rerun: run.id, exit: run.report.exit, passed: run.passed, ended: exitCodeOf(run.end) },
      check: run.report.check,
      ms: run.endedAt - run.startedAt,
      ...{ live_calls: run.live.calls, tokens: run.live.tokens, cost: run.live.cost },
      branches: run.forks.map(({ name }) => name),
      first_difference: firstDifference(run),
    })),
    against:
      against === null
        ? null
        : {
            ...{ passed: against.passed?.passed ?? null, tried: against.passed?.tried ?? null },
            ...{ p: against.shares?.p ?? null, needed: against.shares?.needed ?? null },
            verdict: against.verdict === null ? null : verdictOf(against.verdict),
            why: against.why,
          },
  })),
});

const hasControl = (arms: readonly MeasuredArm[]): boolean => arms.some(({ arm }) => arm.isControl);

/** The first call that differs, and how; null: none does. */
const firstDifference = ({ report: { calls } }: MeasuredRun) => {
  const first = calls.find(({ difference }) => difference !== null);
  return first === undefined || first.difference === null
    ? null
    : { call: first.label, message: first.difference.message, cause: first.difference.cause };
};

const textOf = (shown: ShownArms, width: number): string => {
  const { arms, history } = shown;
  const other = hasControl(arms) ? 'the control' : 'the recording';
  const rows = arms.map(({ arm, figures: { passed, tried, interval, tokens, cost, ms }, against }) => [
    arm.name,
    `${passed} of ${tried}`,
    `${percent(interval.low)} to ${percent(interval.high)}`,
    `${tokens.input ?? '?'} → ${tokens.output ?? '?'}`,
    cost === null ? '-' : `${cost.amount} ${cost.currency}`,
    durationOf(Math.round(ms)),
    against === null ? '-' : against.verdict === null ? '-' : against.verdict.verdict,
  ]);
  return [
    table(['arm', 'passed', '95 %', 'tokens', 'cost', 'time', `against ${other}`], rows, width),
    '\n',
    ...arms.flatMap(({ arm, figures, runs, against }) => [
      ...differsLine(arm.name, runs),
      ...(against === null ? [] : comparisonLines(arm.name, figures, against, other)),
    ]),
    ...branchLines(history, arms),
  ].join('');
};

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** How many runs of an arm differ from the recording before they leave it, and where first. */
const differsLine = (name: string, runs: readonly MeasuredRun[]): readonly string[] => {
  const differing = runs.filter(({ report }) => report.exit === 5);
  if (differing.length === 0) return [];
  const places = new Map<string, number>();
  for (const run of differing) {
    const first = firstDifference(run);
    const place = `${first?.call ?? '-'} (${first?.cause ?? '-'})`;
    places.set(place, (places.get(place) ?? 0) + 1);
  }
  const each = [...places].map(([place, count]) => `${count} at ${place}`).join(', ');
  return [
    `${printable(name)}: ${differing.length} of ${inWords(runs.length, 'run')} differ from the recording: ${each}\n`,
  ];
};

const comparisonLines = (
  name: string,
  { passed, tried }: { readonly passed: number; readonly tried: number },
  { passed: there, shares, verdict, why }: ArmComparison,
  other: string,
): readonly string[] => {
  const counts = there === null ? '' : ` against ${there.passed} of ${there.tried} of ${other}`;
  const chance = shares === null ? '' : `, p = ${figure(shares.p)}`;
  const needed =
    shares === null || shares.needed === null || shares.p <= 0.05
      ? ''
      : `; a difference of this size takes about ${inWords(shares.needed, 'run')} in each arm to be seen`;
  return [
    `${printable(name)}: ${passed} of ${tried} passed${counts}${chance}${needed}\n`,
    `  ${verdict === null ? `no verdict: ${printable(why ?? '')}` : verdictText(verdict)}\n`,
  ];
};

const verdictText = ({
  verdict,
  isJudged,
  decisions,
  telling,
}: NonNullable<ArmComparison['verdict']>): string => {
  if (!isJudged)
    return `cannot tell: ${decisions.needed ?? 0} runs in each arm are needed at least (--times, --control)`;
  const needed = Math.max(decisions.needed ?? 0, telling.needed ?? 0);
  const more =
    verdict === 'cannot tell' && needed > 0 ? `; about ${inWords(needed, 'run')} in each arm would do` : '';
  const p = [decisions, telling].map((part) => (part.p === null ? '-' : figure(part.p)));
  return `${verdict} (p of decisions ${p[0]}, of telling ${p[1]})${more}`;
};

/** How to look at the branches with live calls. */
const branchLines = (history: string, arms: readonly MeasuredArm[]): readonly string[] => {
  const first = arms.flatMap(({ runs }) => runs).find(({ forks }) => forks.length > 0)?.forks[0];
  return first === undefined
    ? []
    : [`each run is a branch, such as ${first.name}: stemma compare ${history} ${first.name}\n`];
};
