import {
  nameOfIntervention,
  type AttemptAnswer,
  type BranchNodeAnswer,
  type HeldCallAnswer,
  type InterventionAnswer,
  type PromptSizeAnswer,
} from '@stemma/api';

/** One call in numbers: what it was shown, and what came of its newest attempt. */
export type CallPoint = PromptSizeAnswer & {
  readonly label: string;
  readonly attempt: AttemptAnswer | null;
  readonly attempts: number;
};

export const pointsOf = (
  sizes: readonly PromptSizeAnswer[],
  attempts: readonly AttemptAnswer[],
): readonly CallPoint[] => {
  const newest = new Map<number, { attempt: AttemptAnswer; count: number }>();
  for (const attempt of attempts)
    if (attempt.reassigned_to === null)
      newest.set(attempt.cycle, { attempt, count: (newest.get(attempt.cycle)?.count ?? 0) + 1 });
  return sizes.map((size) => ({
    ...size,
    label: `@c${size.cycle}`,
    attempt: newest.get(size.cycle)?.attempt ?? null,
    attempts: newest.get(size.cycle)?.count ?? 0,
  }));
};

/** The parts of a prompt that are stacked. */
export type StackedBy = 'regions' | 'roles';
export const PARTS = {
  regions: [
    ['sys', 'system header'],
    ['earlier', 'earlier turns'],
    ['turn', 'newest turn'],
    ['head', 'active head'],
  ],
  roles: [
    ['system', 'system'],
    ['user', 'user'],
    ['assistant', 'assistant'],
    ['tool', 'tool'],
    ['other', 'other roles'],
  ],
} as const;

export const partsIn = (point: PromptSizeAnswer, stack: StackedBy): readonly number[] =>
  stack === 'regions'
    ? PARTS.regions.map(([name]) => point.regions[name])
    : PARTS.roles.map(([name]) => point.roles[name]);

/** Something that happened before a call, or at it. */
export type ChartEvent = {
  /** The index of the call. */
  readonly index: number;
  readonly kind: 'intervention' | 'held' | 'saved' | 'branch' | 'error';
  readonly words: string;
  /** Of an intervention: its id. */
  readonly intervention?: string;
};

/** The newest frame of each branch that belongs to the ancestor path of one of them. */
const pathLimits = (branches: readonly BranchNodeAnswer[], branchId: number): ReadonlyMap<number, number> => {
  const byId = new Map(branches.map((one) => [one.branchId, one]));
  const limits = new Map<number, number>();
  let limit = Infinity;
  for (let branch = byId.get(branchId); branch !== undefined && !limits.has(branch.branchId);) {
    limits.set(branch.branchId, limit);
    limit = branch.parent?.seq ?? -1;
    branch = branch.parent === null ? undefined : byId.get(branch.parent.branchId);
  }
  return limits;
};

type Sources = {
  readonly points: readonly CallPoint[];
  readonly branchId: number;
  readonly branches: readonly BranchNodeAnswer[];
  readonly interventions: readonly InterventionAnswer[];
  readonly held: readonly HeldCallAnswer[];
};

/** What happened, as the chart shows it, in the order of the calls. */
export const chartEventsOf = ({
  points,
  branchId,
  branches,
  interventions,
  held,
}: Sources): readonly ChartEvent[] => {
  const limits = pathLimits(branches, branchId);
  const isOnPath = (branch: number, seq: number): boolean => seq <= (limits.get(branch) ?? -1);
  /** The call whose prompt is the first with a frame in it; the last one, if none is yet. */
  const indexAt = (seq: number): number => {
    let [low, high] = [0, points.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((points[middle]?.seq ?? 0) < seq) low = middle + 1;
      else high = middle;
    }
    return Math.min(low, points.length - 1);
  };
  const events: ChartEvent[] = [];
  for (const one of interventions)
    if (isOnPath(one.branchId, one.seq))
      events.push({
        index: indexAt(one.seq),
        kind: 'intervention',
        words: `${nameOfIntervention(one)} by ${one.actor}`,
        intervention: one.id,
      });
  for (const call of held)
    if (isOnPath(call.branchId, call.seq))
      events.push({
        index: indexAt(call.seq),
        kind: 'held',
        words: `held by ${call.breakpoints.join(', ')}${call.released === null ? ', waits' : `, ${call.released.how}`}`,
      });
  for (const { branchId: at, saved } of branches)
    for (const { seq, name } of saved)
      if (isOnPath(at, seq)) events.push({ index: indexAt(seq), kind: 'saved', words: `saved as ${name}` });
  for (const { parent, name, how, branchId: own } of branches)
    if (parent !== null && isOnPath(parent.branchId, parent.seq))
      events.push({ index: indexAt(parent.seq), kind: 'branch', words: `${how} ${name ?? `:${own}`}` });
  for (const [index, { attempt }] of points.entries())
    if (attempt !== null && !['answered', 'unknown'].includes(attempt.status))
      events.push({ index, kind: 'error', words: attempt.error?.message ?? attempt.status });
  return points.length === 0 ? [] : events.sort((a, b) => a.index - b.index);
};
