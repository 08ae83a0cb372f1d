import { roleOf } from '@stemma/context-tree';
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
import { findFrameSummary } from '@stemma/read-models';
import { openMeasures, type Counts } from './measure.ts';
import type { PromptParts, PromptSizes } from './sizes-types.ts';

const MILLION = 1_000_000n;

type Role = keyof PromptParts['roles'];

/** Sums over the slices of a thread up to one of them. */
type Sum = { readonly messages: number; readonly tokens: number; readonly roles: PromptParts['roles'] };

const NOTHING: Sum = {
  messages: 0,
  tokens: 0,
  roles: { system: 0, user: 0, assistant: 0, tool: 0, other: 0 },
};

/**
 * What each call on a branch's ancestor path was shown, in messages and tokens, oldest first. A call costs what changed in its
 * thread and the slices after that, not the thread.
 */
export const listPromptSizes = async (
  projection: Projection,
  { history, branchId }: BranchRef,
  counts: Counts,
): Promise<PromptSizes> => {
  const { steps, hasHead } = await projection.read((rows) => ({
    hasHead: readBranch(rows, history, branchId).thread !== 'pre',
    steps: [...readThreadTimeline(rows, history, branchId, readTipSeq(rows, history, branchId))].map(
      (step) => ({
        ...step,
        at: Number(findFrameSummary(rows, history, step.snapshot.seq).at / MILLION),
      }),
    ),
  }));
  const measures = await openMeasures(projection, history, counts);
  const add = async (before: Sum, slice: ThreadSlice): Promise<Sum> => {
    const roles = { ...before.roles };
    let tokens = before.tokens;
    for (const entry of slice) {
      const measured = await measures.measure(entry);
      tokens += measured.tokens;
      roles[roleIn(entry)] += measured.tokens;
    }
    return { messages: before.messages + slice.length, tokens, roles };
  };
  /** Before each slice, and after the last. */
  const sums: Sum[] = [NOTHING];
  const sizes: PromptSizes['sizes'][number][] = [];
  for (const step of steps) {
    sums.length = step.firstChanged + 1;
    for (const slice of step.after) sums.push(await add(sums.at(-1) ?? NOTHING, slice));
    const { messages, tokens, roles } = sums.at(-1) ?? NOTHING;
    const { cycle, branchId: owner, seq } = step.snapshot;
    sizes.push({
      ...{ cycle, branchId: owner, seq, at: step.at, messages, tokens, roles },
      ...changesOf(step),
      regions: regionsOf(sums, hasHead),
    });
  }
  return { tokenizer: measures.tokenizer, sizes };
};

/** The first slice is that of `^sys`, the last that of the active head if the thread shows it, and before it stands the newest turn. */
const regionsOf = (sums: readonly Sum[], hasHead: boolean): PromptParts['regions'] => {
  const after = (slice: number): number => sums[Math.max(0, slice)]?.tokens ?? 0;
  const last = sums.length - 1;
  const [sys, all] = [after(Math.min(1, last)), after(last)];
  const beforeHead = hasHead ? Math.max(sys, after(last - 1)) : all;
  const beforeTurn = Math.max(sys, after(last - (hasHead ? 2 : 1)));
  return { sys, earlier: beforeTurn - sys, turn: beforeHead - beforeTurn, head: all - beforeHead };
};

const changesOf = ({ before, after }: ThreadStep): { readonly entered: number; readonly removed: number } => {
  const idsOf = (slices: readonly ThreadSlice[]): Set<string> =>
    new Set(slices.flatMap((slice) => slice.map(({ headers }) => headers.id)));
  const [old, fresh] = [idsOf(before), idsOf(after)];
  const without = (ids: ReadonlySet<string>, others: ReadonlySet<string>): number =>
    [...ids].filter((id) => !others.has(id)).length;
  return { entered: without(fresh, old), removed: without(old, fresh) };
};

const ROLES: Readonly<Record<string, Role>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

const roleIn = ({ headers, inSys }: ThreadEntry): Role => {
  const role = roleOf(headers, inSys) ?? '';
  return Object.hasOwn(ROLES, role) ? (ROLES[role] ?? 'other') : 'other';
};
