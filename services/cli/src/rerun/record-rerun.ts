import { compareCodePoints } from '@stemma/canonical';
import { reasonOf } from '@stemma/errors';
import type { GitCommit, ProgramEnd } from '@stemma/events';
import { endOfRerun, MOST_RERUN_RESULTS, type StepOf } from '@stemma/history';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { RerunReport, RerunSummary } from '@stemma/rerun';
import { defined } from '@stemma/values';
import type { EndedChild } from '../child-command.ts';
import type { RerunFork } from './rerun-forks.ts';

/** What came of a rerun, who ran it and why. */
export type RerunToRecord = EndedChild & {
  readonly rerun: string;
  /** The run that answered; null: calls of no run. */
  readonly of: string | null;
  readonly by: { readonly actor: string; readonly notes: string };
  readonly command: readonly string[];
  readonly directory: string;
  readonly commit: GitCommit | null;
  readonly summary: RerunSummary;
  readonly report: RerunReport;
  /** The branches with live calls. */
  readonly forks: readonly RerunFork[];
  /** What checked what it left behind, and how that ended; null: nothing did. */
  readonly check: { readonly command: string; readonly end: ProgramEnd } | null;
  /** The arm of an experiment that it is a run of; null: of none. */
  readonly arm: string | null;
};

/**
 * Records the end of a rerun on the branch whose calls answered: one frame, and nothing of what was served. That it cannot be recorded
 * is said, and changes nothing of what came of it.
 */
export const recordRerun = async (
  home: Pick<Home, 'submit'>,
  { history, branchId }: BranchRef,
  say: (sentence: string) => void,
  ended: RerunToRecord,
): Promise<void> => {
  const { rerun, of, by, command, directory, commit, summary, report, check, forks } = ended;
  const { startedAt, endedAt, end } = ended;
  const { same, bound, differs, extra, missing, live, notKept } = summary.counts;
  const otherOrder = summary.calls.filter(({ how }) => how === 'other order').length;
  const first = report.calls.find(({ difference }) => difference !== null);
  const difference = first?.difference ?? null;
  try {
    await home.submit({
      ...{ id: endOfRerun(rerun), history, branchId, by: { actor: by.actor }, notes: by.notes },
      steps: [
        {
          ...{ op: 'end_rerun', rerun, of, commit, startedAt, endedAt, end },
          command: command.map((word) => word.toWellFormed()),
          directory: directory.toWellFormed(),
          exit: report.exit,
          counts: { same, otherOrder, bound, differs, extra, missing, live, notKept },
          bindings: countedByKind(summary),
          difference:
            first === undefined || difference === null
              ? null
              : {
                  label: first.label,
                  message: difference.message,
                  cause: difference.cause,
                  node: difference.node,
                },
          calls: summary.calls.map(({ label, how }) => ({ label, how })),
          texts: textsOf(summary, difference),
          ...defined({
            arm: ended.arm ?? undefined,
            check: check?.command.toWellFormed(),
            checkEnd: check?.end,
          }),
          ...(forks.length === 0
            ? {}
            : { forks: forks.map(({ branch }) => ({ history: branch.history, branchId: branch.branchId })) }),
        },
      ],
    });
  } catch (error) {
    say(`the rerun is not recorded: ${reasonOf(error)}`);
  }
};

/** The texts of a report, whole: what is secret in them is taken out, and then they are cut. */
const textsOf = (
  { calls, world }: RerunSummary,
  first: RerunReport['calls'][number]['difference'],
): NonNullable<StepOf<'end_rerun'>['texts']> => {
  const call = calls.find(
    ({ how, difference }) => difference !== null || how === 'extra' || how === 'missing',
  );
  const { difference = null, shownTo = [], ledTo = null } = call ?? {};
  const [from, to] = [shownTo[0], shownTo.at(-1)];
  return {
    difference: difference && {
      ...{ role: difference.role, name: difference.name && difference.name.toWellFormed() },
      recorded: named(difference.name, difference.a),
      now: named(difference.name, difference.b),
      askedBy: difference.askedBy && {
        call: difference.askedBy.call,
        tool: difference.askedBy.tool.toWellFormed(),
        arguments: difference.askedBy.arguments.toWellFormed(),
      },
      gone: difference.gone,
      by: first?.by ?? null,
      shownTo:
        from === undefined || to === undefined || ledTo === null ? null : { first: from, last: to, ...ledTo },
    },
    world: world.slice(0, MOST_RERUN_RESULTS).map(({ call: at, tool, a, b }) => ({
      ...{ call: at, tool: tool.toWellFormed(), recorded: named(null, a), now: named(null, b) },
    })),
  };
};

/** A text beside the last part of the path to it, which may say that it is a secret. */
const named = (path: string | null, text: string | null): { name: string | null; value: string } | null =>
  text === null
    ? null
    : {
        name: path === null ? null : (path.toWellFormed().split(/[./]/).at(-1) ?? null),
        value: text.toWellFormed(),
      };

/** How many values of each kind were bound, by kind. */
const countedByKind = ({ bindings }: RerunSummary): { kind: string; count: number }[] => {
  const counts = new Map<string, number>();
  for (const { kind, mask } of bindings) {
    const name = mask ?? kind;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .map(([kind, count]) => ({ kind, count }))
    .sort((a, b) => compareCodePoints(a.kind, b.kind));
};
