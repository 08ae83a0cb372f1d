import { toHex } from '@stemma/canonical';
import { blockJson } from '@stemma/context-tree';
import {
  hasTurnsImportedLast,
  listSnapshots,
  readBranch,
  readThreadTimeline,
  readTipSeq,
  type BranchRef,
  type SnapshotPageQuery,
  type SnapshotRow,
  type ThreadEntry,
} from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { countCallsAt, firstCallRow } from '@stemma/read-models';
import type { CallPrompt, CallsOptions } from './calls-types.ts';
import { readMessageContent } from './measure.ts';
import { readPromptSteps, type PromptStep } from './prompt-steps.ts';

/**
 * Yields the prompts of the calls on a branch's ancestor path, oldest first. A prompt repeats most of the one before,
 * so each says how many messages it shares with that, and gives the others: all of them together are as large as what the branch
 * ever showed, not as the sum of its prompts. Contents are read when they are yielded, and of the history before the first one
 * nothing.
 */
export async function* listCalls(
  projection: Projection,
  branchRef: BranchRef,
  { after = -1 }: CallsOptions = {},
): AsyncGenerator<CallPrompt> {
  const { history, branchId } = branchRef;
  const tip = await projection.read((rows) => {
    const seq = readTipSeq(rows, history, branchId);
    const isFull = readBranch(rows, history, branchId).thread === 'full';
    return {
      seq,
      hasCalls: firstCallRow(rows, history) !== undefined,
      // In any other history the thread is in the order in which it came.
      inOrder: isFull && !hasTurnsImportedLast(rows, history, branchId, seq),
    };
  });
  if (!tip.inOrder) {
    yield* listCallsOfTimeline(projection, branchRef, tip.hasCalls, after);
    return;
  }
  const page = (options: SnapshotPageQuery): Promise<readonly SnapshotRow[]> =>
    projection.read((rows) => listSnapshots(rows, history, branchId, tip.seq, options));
  let before = after < 0 ? null : ((await page({ from: after, limit: 1 }))[0] ?? null);
  for (let from = after + 1; ;) {
    const snapshots = await page({ first: 'oldest', from, limit: SNAPSHOTS });
    const steps = await readPromptSteps(projection, history, before, snapshots);
    for (const [i, snapshot] of snapshots.entries()) {
      const step = steps[i] as PromptStep;
      const unchanged = snapshot.blocks - step.after.length;
      yield callOf(projection, history, tip.hasCalls, snapshot, { ...step, unchanged });
    }
    before = snapshots.at(-1) ?? null;
    if (snapshots.length < SNAPSHOTS) return;
    from = (snapshots.at(-1) as SnapshotRow).cycle + 1;
  }
}

/** Snapshots that are read at once: a page of 100, one more that says whether another follows, and few that nobody asks for. */
const SNAPSHOTS = 26;

/** The same from the beginning of the history, whatever the order of its thread. */
async function* listCallsOfTimeline(
  projection: Projection,
  { history, branchId }: BranchRef,
  hasCalls: boolean,
  from: number,
): AsyncGenerator<CallPrompt> {
  const threadTimeline = await projection.read((rows) => [
    ...readThreadTimeline(rows, history, branchId, readTipSeq(rows, history, branchId)),
  ]);
  /** Messages before each slice, and after the last. */
  const sums = [0];
  for (const { snapshot, firstChanged, before, after } of threadTimeline) {
    sums.length = firstChanged + 1;
    const unchanged = sums.at(-1) as number;
    for (const slice of after) sums.push((sums.at(-1) as number) + slice.length);
    if (snapshot.cycle <= from) continue;
    yield callOf(projection, history, hasCalls, snapshot, {
      before: before.flat(),
      after: after.flat(),
      unchanged,
    });
  }
}

/** The prompt of a snapshot, of what its thread has after a number of messages and the one before had there. */
const callOf = async (
  projection: Projection,
  history: string,
  hasCalls: boolean,
  { cycle, branchId, seq, threadHash }: SnapshotRow,
  { before, after, unchanged }: Pick<PromptStep, 'before' | 'after'> & { readonly unchanged: number },
): Promise<CallPrompt> => {
  const messageOf = async (entry: ThreadEntry): Promise<string> =>
    blockJson(entry.headers, await readMessageContent(projection, history, entry), entry.inSys);
  const isSame = async (a: ThreadEntry, b: ThreadEntry): Promise<boolean> =>
    a === b ||
    (envelopeOf(a) === envelopeOf(b) &&
      (isOneEvent(a, b) ||
        (await readMessageContent(projection, history, a)) ===
          (await readMessageContent(projection, history, b))));
  let same = 0;
  while (
    same < Math.min(before.length, after.length) &&
    (await isSame(before[same] as ThreadEntry, after[same] as ThreadEntry))
  )
    same++;
  const following: string[] = [];
  for (const entry of after.slice(same)) following.push(await messageOf(entry));
  return {
    label: `@c${cycle}`,
    cycle,
    seq,
    threadHash: toHex(threadHash),
    calls: hasCalls ? await projection.read((rows) => countCallsAt(rows, history, { branchId, seq })) : null,
    messages: unchanged + after.length,
    shared: unchanged + same,
    following,
  };
};

/** A message without its content. */
const envelopeOf = ({ headers, inSys }: ThreadEntry): string => blockJson(headers, '', inSys);

/** Whether one event wrote both contents. */
const isOneEvent = ({ payload: a }: ThreadEntry, { payload: b }: ThreadEntry): boolean =>
  a.seq === b.seq && a.index === b.index;
