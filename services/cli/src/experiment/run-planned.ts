import type { RunVerdict } from '@stemma/analysis';
import type { WideJson } from '@stemma/canonical';
import { ERRORS } from '@stemma/errors';
import type { ExperimentPlan, RanPlan } from '@stemma/experiments';
import type { Home } from '@stemma/home';
import { defined } from '@stemma/values';
import { actorOf } from '../actor.ts';
import { askApart } from '../analyse/ask-apart.ts';
import { figure } from '../analyse/words.ts';
import type { Context } from '../command.ts';
import { whole } from '../options.ts';
import { printable, table } from '../output.ts';

/** The verdict on two arms of a plan. */
type ArmVerdict = { readonly a: string; readonly b: string; readonly found: RunVerdict };

/** Runs a plan, or goes on with it, and gives its verdicts once all rounds are done. */
export const runPlanned = async (
  context: Context,
  value: WideJson,
  options: Readonly<Record<string, unknown>>,
): Promise<number | undefined> => {
  const { parsePlan, runPlan, verdictDocument } = await import('@stemma/experiments');
  const plan = parsePlan(value);
  const atOnce = whole(options, 'atOnce', { least: 1, most: 100 });
  const actor = await actorOf(context, options);
  const home = await context.home({ create: true });
  const display = context.progress('rounds');
  let ran: RanPlan;
  try {
    ran = await runPlan(home, plan, {
      actor,
      minds: { env: context.env },
      signal: context.signal,
      ...defined({ atOnce }),
      progress: ({ done, of }) => {
        if (!context.signal.aborted) display.count(done, of);
      },
    });
  } finally {
    display.end();
  }
  const verdicts = ran.error === null ? await verdictsOf(home, plan, ran, context.signal) : [];
  const document = {
    ...documentOf(plan, ran),
    verdicts: verdicts.map(({ a, b, found }) => ({ arms: [a, b], ...verdictDocument(found) })),
  };
  await context.output.result(document, () => describe(plan, ran, verdicts, context));
  return ran.error === null ? undefined : ERRORS[ran.error.code].exit;
};

const verdictsOf = async (
  home: Home,
  { measures: { verdicts, permutations, seed } }: ExperimentPlan,
  { runs }: RanPlan,
  signal: AbortSignal,
): Promise<readonly ArmVerdict[]> => {
  const { recordedArms } = await import('@stemma/experiments');
  const found: ArmVerdict[] = [];
  const branches = (arm: string) => runs.filter((run) => run.arm === arm).map(({ branchRef }) => branchRef);
  for (const [a, b] of verdicts) {
    const recorded = await recordedArms(home, { a: branches(a), b: branches(b) });
    const asked = defined({ permutations, seed });
    found.push({
      a,
      b,
      found: await askApart({ kind: 'verdict', a: recorded.a, b: recorded.b, options: asked }, signal),
    });
  }
  return found;
};

const documentOf = (plan: ExperimentPlan, { hash, history, runs, error }: RanPlan) => ({
  plan: hash,
  history,
  question: plan.question,
  runs: runs.map(({ arm, branchRef, name, seed }) => ({ arm, name, branch: branchRef.branch, seed })),
  error,
});

const describe = (
  plan: ExperimentPlan,
  { hash, history, runs, error }: RanPlan,
  verdicts: readonly ArmVerdict[],
  { output }: Context,
): string => {
  const head = `${printable(plan.question)}\nplan ${hash}, recorded in ${history} before the first round\n`;
  if (error !== null)
    return `${head}stopped: ${printable(error.message)}\nThe same command goes on where it stopped.\n`;
  const rows = verdicts.map(({ a, b, found }) => [
    `${a} and ${b}`,
    found.verdict,
    figure(found.decisions.p ?? 1),
    figure(found.telling.p ?? 1),
  ]);
  const [first] = verdicts;
  const names = (arm: string | undefined): string[] =>
    runs.filter((run) => run.arm === arm).map(({ name }) => name);
  const [a, ...moreA] = names(first?.a);
  const [b, ...moreB] = names(first?.b);
  const more = (option: string, list: readonly string[]): string =>
    list.length === 0 ? '' : ` ${option} ${list.join(' ')}`;
  return `${head}${runs.length} runs of ${plan.rounds} rounds\n\n${table(['ARMS', 'VERDICT', 'P DECISIONS', 'P TELLING'], rows, output.width)}\nstemma verdict ${history} ${a ?? ''} ${b ?? ''}${more('--runs', moreA)}${more('--runs-b', moreB)}\n`;
};
