import { threadBytes } from '@stemma/context-tree';
import { branchRefOf, listSnapshots, readBranch, readTipSeq, type BranchRef } from '@stemma/history-store';
import { listBranches } from '@stemma/read-models';
import { expect, test } from 'vitest';
import { listCalls } from '../src/prompts/calls.ts';
import type { CallPrompt } from '../src/prompts/calls-types.ts';
import { positionOf, viewOf } from '../src/read.ts';
import { HISTORIES } from './recorded/keeps-answers.ts';
import { recordedHistories, type RecordedHistories } from './recorded/recorded-histories.ts';

const callsOf = async (
  { projector }: RecordedHistories,
  branchRef: BranchRef,
  after?: number,
): Promise<readonly CallPrompt[]> => {
  const calls: CallPrompt[] = [];
  const options = after === undefined ? {} : { after };
  for await (const call of listCalls(projector, branchRef, options)) calls.push(call);
  return calls;
};

/** The thread of each call: the messages shared with the one before, and those that follow. */
const threadsOf = (calls: readonly CallPrompt[], before: readonly string[] = []): string[][] => {
  const threads: string[][] = [];
  for (const { shared, following } of calls)
    threads.push([...(threads.at(-1) ?? before).slice(0, shared), ...following]);
  return threads;
};

test(
  'the calls of every branch, put together, are the threads of its snapshots byte for byte, and share as much as they can',
  { tags: ['context-tree§4:provider-thread'] },
  async () => {
    const recorded = await recordedHistories();
    const { projector } = recorded;
    const modes = new Set<string>();
    let shorter = 0;
    for (const history of HISTORIES) {
      const branches = await projector.read((rows) =>
        listBranches(rows, history).map(({ branchId }) => branchRefOf(history, branchId)),
      );
      for (const branchRef of branches) {
        const calls = await callsOf(recorded, branchRef);
        const threads = threadsOf(calls);
        const { branchId } = branchRef;
        const snapshots = await projector.read((rows) => [
          ...listSnapshots(rows, history, branchId, readTipSeq(rows, history, branchId), { first: 'oldest' }),
        ]);
        expect(calls.map(({ seq }) => seq)).toEqual(snapshots.map(({ seq }) => seq));
        for (const [i, { label, messages, shared, threadHash }] of calls.entries()) {
          const thread = threads[i] ?? [];
          const position = await projector.read((rows) => positionOf(rows, branchRef, label));
          const view = await viewOf(projector, position);
          modes.add(view.thread);
          expect(`[${thread.join(',')}]`).toBe(threadBytes(view.tree, view.payloads, view.thread));
          expect([messages, threadHash]).toEqual([
            thread.length,
            Buffer.from(snapshots[i]?.threadHash ?? []).toString('hex'),
          ]);
          const before = threads[i - 1] ?? [];
          if (shared < Math.min(before.length, thread.length))
            expect(before[shared]).not.toBe(thread[shared]);
          if (shared < before.length) shorter++;
        }
      }
    }
    expect([modes, shorter > 20]).toEqual([new Set(['full', 'pre']), true]);
  },
);

test('calls after a cycle are those of the whole list, whatever the cycle', async () => {
  const recorded = await recordedHistories();
  for (const history of HISTORIES) {
    const branchRef = branchRefOf(history, 0);
    const all = await callsOf(recorded, branchRef);
    for (const after of [0, 1, Math.floor(all.length / 2), all.length - 1, all.length, 1e9])
      expect(await callsOf(recorded, branchRef, after)).toEqual(all.filter(({ cycle }) => cycle > after));
  }
  expect(await recorded.projector.read((rows) => readBranch(rows, HISTORIES[0] ?? '', 0).thread)).toBe(
    'full',
  );
});
