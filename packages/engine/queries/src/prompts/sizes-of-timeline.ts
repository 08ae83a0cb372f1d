import {
  readBranch,
  readThreadTimeline,
  readTipSeq,
  type BranchRef,
  type ThreadEntry,
  type ThreadSlice,
  type ThreadStep,
} from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { findFrameSummary, messageRole, NO_TOKENS, type RoleTokens } from '@stemma/read-models';
import { millisecondsOf } from '@stemma/values';
import type { Measures } from './measure.ts';
import type { PromptParts, PromptSize } from './sizes-types.ts';

/** Sums over the slices of a thread up to one of them. */
type Sum = { readonly messages: number; readonly tokens: number; readonly roles: RoleTokens };

const NOTHING: Sum = { messages: 0, tokens: 0, roles: NO_TOKENS };

/** The cycles of calls that are asked for: those after one, up to another. */
export type CycleRange = { readonly after: number; readonly to: number };

/**
 * The sizes of calls on a branch's ancestor path, from the beginning of the history on: a call costs what changed in its
 * thread and a sum of each slice after that, not the thread; those before the first one that is asked for cost the same, and those
 * after the last one nothing.
 */
export const sizesOfTimeline = async (
  projection: Projection,
  { history, branchId }: BranchRef,
  measures: Measures,
  { after, to }: CycleRange = { after: -1, to: Infinity },
): Promise<readonly PromptSize[]> => {
  const { steps, hasHead } = await projection.read((rows) => {
    const taken: (ThreadStep & { readonly at: number })[] = [];
    for (const step of readThreadTimeline(rows, history, branchId, readTipSeq(rows, history, branchId))) {
      if (step.snapshot.cycle > to) break;
      taken.push({ ...step, at: millisecondsOf(findFrameSummary(rows, history, step.snapshot.seq).at) });
    }
    return { steps: taken, hasHead: readBranch(rows, history, branchId).thread !== 'pre' };
  });
  const known = new WeakMap<ThreadSlice, Sum>();
  const sumOf = async (slice: ThreadSlice): Promise<Sum> => {
    const roles = { ...NOTHING.roles };
    let tokens = 0;
    for (const [i, measured] of (await measures.tokensOf(slice)).entries()) {
      tokens += measured;
      const { headers, inSys } = slice[i] as ThreadEntry;
      roles[messageRole(headers, inSys)] += measured;
    }
    const sum = { messages: slice.length, tokens, roles };
    known.set(slice, sum);
    return sum;
  };
  /** Before each slice, and after the last. */
  const sums: Sum[] = [NOTHING];
  const sizes: PromptSize[] = [];
  for (const [i, step] of steps.entries()) {
    await measures.countSteps(steps, i);
    sums.length = step.firstChanged + 1;
    for (const slice of step.after)
      sums.push(added(sums.at(-1) ?? NOTHING, known.get(slice) ?? (await sumOf(slice))));
    const { cycle, branchId: owner, seq } = step.snapshot;
    if (cycle <= after) continue;
    const { messages, tokens, roles } = sums.at(-1) ?? NOTHING;
    sizes.push({
      ...{ cycle, branchId: owner, seq, at: step.at, messages, tokens, roles },
      ...changesOf(step),
      regions: regionsOf(sums, hasHead),
    });
  }
  return sizes;
};

const added = (a: Sum, b: Sum): Sum => ({
  messages: a.messages + b.messages,
  tokens: a.tokens + b.tokens,
  roles: {
    system: a.roles.system + b.roles.system,
    user: a.roles.user + b.roles.user,
    assistant: a.roles.assistant + b.roles.assistant,
    tool: a.roles.tool + b.roles.tool,
    other: a.roles.other + b.roles.other,
  },
});

/** The first slice is that of `^sys`, the last that of the active head if the thread shows it, and before it stands the newest turn. */
const regionsOf = (sums: readonly Sum[], hasHead: boolean): PromptParts['regions'] => {
  const after = (slice: number): number => sums[Math.max(0, slice)]?.tokens ?? 0;
  const last = sums.length - 1;
  const [sys, all] = [after(Math.min(1, last)), after(last)];
  const beforeHead = hasHead ? Math.max(sys, after(last - 1)) : all;
  const beforeTurn = Math.max(sys, after(last - (hasHead ? 2 : 1)));
  return { sys, earlier: beforeTurn - sys, turn: beforeHead - beforeTurn, head: all - beforeHead };
};

/** What stands in a slice that both have is neither. */
const changesOf = ({ before, after }: ThreadStep): { readonly entered: number; readonly removed: number } => {
  const idsOf = (slices: readonly ThreadSlice[], others: readonly ThreadSlice[]): Set<string> => {
    const same = new Set(others);
    const ids = new Set<string>();
    for (const slice of slices) if (!same.has(slice)) for (const { headers } of slice) ids.add(headers.id);
    return ids;
  };
  const [old, fresh] = [idsOf(before, after), idsOf(after, before)];
  const without = (ids: ReadonlySet<string>, others: ReadonlySet<string>): number =>
    [...ids].filter((id) => !others.has(id)).length;
  return { entered: without(fresh, old), removed: without(old, fresh) };
};
