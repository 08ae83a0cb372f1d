import { pathTo, type CycleSpan, type Impact, type PathStep, type TaintedCall } from '@stemma/queries';
import { printable, table } from '../output.ts';

/** So many calls are listed, and so many steps of a path. */
const MAX_CALLS = 40;
const MAX_STEPS = 8;

/** An impact as people read it: what was shown where, what was made of it, what was no longer seen. */
export const describeImpact = (impact: Impact): string => {
  const { basis, counts, brought, lost, branches, calls } = impact;
  const lines = [
    `\n${counts.calls} model calls after it: ${counts.direct} were shown what it added, ${counts.derived} only what was derived from it\n`,
    basis === 'made'
      ? ''
      : 'no call is recorded here: each commit is taken for a call of the imported record\n',
    ...brought.map(({ id, calls: shown, still }) =>
      shown.length === 0
        ? `added ${printable(id)}: shown in no call\n`
        : `added ${printable(id)}: shown in ${cycleSpansText(shown)}${still ? ', still in the context' : ''}\n`,
    ),
    ...lost.map(({ id, what, calls: unseen }) =>
      unseen.length === 0
        ? `${what} ${printable(id)}: no later call would have shown it\n`
        : `${what} ${printable(id)}: not shown in ${cycleSpansText(unseen)}\n`,
    ),
    table(
      ['BRANCH', 'CALLS', 'DIRECT', 'DERIVED', 'LAST DIRECT', 'LAST DERIVED'],
      branches.map((each) => [
        String(each.branchId),
        String(each.calls),
        String(each.direct),
        String(each.derived),
        each.lastDirect === null ? '' : `@c${each.lastDirect}`,
        each.lastDerived === null ? '' : `@c${each.lastDerived}`,
      ]),
    ),
    ...calls.slice(0, MAX_CALLS).map((call) => describeCall(impact, call)),
    calls.length > MAX_CALLS ? `and ${calls.length - MAX_CALLS} more calls (--json lists all)\n` : '',
  ];
  return lines.join('');
};

const cycleSpansText = (list: readonly CycleSpan[]): string =>
  list
    .map(({ branchId, first, last, count }) =>
      count === 1 ? `${branchId}@c${first}` : `${branchId}@c${first}..${last} (${count} calls)`,
    )
    .join(', ');

const describeCall = (impact: Impact, call: TaintedCall): string => {
  const { branchId, cycle, direct, derived, depth } = call;
  const path = pathTo(impact, call, MAX_STEPS).map(reasonOf);
  const more = depth + 1 > MAX_STEPS ? ' ← …' : '';
  return `${branchId}@c${cycle}  ${direct} direct, ${derived} derived  ${printable(path.join(' ← '))}${more}\n`;
};

const reasonOf = ({ id, reason }: PathStep): string =>
  reason.kind === 'brought'
    ? `${id} (added)`
    : reason.kind === 'answer'
      ? `${id} (answer of @c${reason.call.cycle})`
      : `${id} (refers)`;
