import { readBodyAt } from '@stemma/call-bodies';
import { isStemmaError } from '@stemma/errors';
import { isBodyKept } from '@stemma/events';
import { positionOfFrame, readThreadTimeline, readTipSeq, type ThreadStep } from '@stemma/history-store';
import { toOpenAIMessages } from '@stemma/importers';
import type { Projection } from '@stemma/projector';
import { hashOfMessage, openThreadMessages, viewOf } from '@stemma/queries';
import { listCallRows, listNewestCallRows, type CallRow } from '@stemma/read-models';
import { comparableMessage } from '@stemma/model-apis';
import type { RowsToVerify } from '../verify-rows.ts';
import { openCallComparison, type Compared, type ThreadOfCall } from './compare-call.ts';
import { isThreadConverted } from './converted-thread.ts';

export type CallProblem = { readonly history: string; readonly seq: number; readonly message: string };

/** What came of comparing recorded calls with the threads that they were made with. */
export type VerifiedCalls = {
  /** Attempts whose bodies were read. */
  readonly checked: number;
  /** Requests that say the messages of their threads. */
  readonly compared: number;
  /** How many could not be compared, by reason. */
  readonly notComparable: Readonly<Record<string, number>>;
  readonly problems: readonly CallProblem[];
};

/** Of a sample: so many histories, and of each so many of its newest attempts. */
const SAMPLED_HISTORIES = 20;
const SAMPLED_CALLS = 10;

/** Rows of attempts that are read at once. */
const PAGE = 500;

/** Of one history not more are listed. */
const MOST_PROBLEMS = 100;

/**
 * Proves that recorded requests say the messages of the threads that they were made with (calls §9). Bodies are read, so their
 * hashes are compared, and then their messages, as the recorder compares them. A branch costs what is said in it and the
 * hash of every body; in memory are one body, and the hashes of the messages of one prompt.
 */
export const verifyCalls = async (
  projection: Projection,
  histories: readonly string[],
  which: RowsToVerify,
): Promise<VerifiedCalls> => {
  const counts = openCounts();
  let sampled = 0;
  for (const history of histories) {
    if (which === 'sample' && sampled === SAMPLED_HISTORIES) break;
    const calls = await callsOf(projection, history, which);
    if (calls.length === 0) continue;
    sampled++;
    await verifyHistory(projection, history, calls, counts);
  }
  return counts.result();
};

const callsOf = (projection: Projection, history: string, which: RowsToVerify): Promise<readonly CallRow[]> =>
  projection.read((rows) => {
    if (which === 'sample') return listNewestCallRows(rows, history, SAMPLED_CALLS);
    const calls: CallRow[] = [];
    for (let from = 0; ;) {
      const page = listCallRows(rows, history, { from, limit: PAGE });
      calls.push(...page);
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return calls;
      from = last.location.seq + 1;
    }
  });

const verifyHistory = async (
  projection: Projection,
  history: string,
  calls: readonly CallRow[],
  counts: Counts,
): Promise<void> => {
  for (const [branchId, own] of Map.groupBy(calls, (call) => call.branchId)) {
    const at = Map.groupBy(own, ({ position }) => position);
    const comparison = openCallComparison(projection, history);
    const thread = openThreadMessages(projection, history);
    /** Messages that no step since the last comparison has changed. */
    let shared = 0;
    const isSaidOtherwise = async ({ kind }: Compared, call: CallRow): Promise<boolean> =>
      kind === 'differs' && isThreadConverted(projection, history, call);
    const check = async (call: CallRow, of: ThreadOfCall): Promise<void> => {
      counts.checked();
      try {
        if (call.finished?.response != null && isBodyKept(call.finished.response))
          await readBodyAt(call.finished.location, projection.payloads.framesOf(history));
        const found = await comparison.compare(call, of);
        const isEqual = found.kind === 'equal' || (await isSaidOtherwise(found, call));
        if (isEqual) counts.equal();
        else if (found.kind === 'differs') counts.problem(history, call, found.sentence);
        else counts.notComparable(found.reason);
      } catch (error) {
        if (!isStemmaError(error)) throw error;
        counts.problem(history, call, error.message);
      }
    };
    for (const step of await stepsOf(projection, history, branchId)) {
      const { messages, shared: unchanged } = await thread.at(step);
      shared = Math.min(shared, unchanged);
      for (const call of at.get(step.snapshot.seq) ?? []) {
        await check(call, { messages, shared, framesOf: thread.framesOf });
        shared = messages.length;
      }
      at.delete(step.snapshot.seq);
    }
    // Calls that were made with drafts.
    for (const call of [...at.values()].flat())
      await check(call, await threadOfDraft(projection, history, call));
  }
};

const stepsOf = (projection: Projection, history: string, branchId: number): Promise<readonly ThreadStep[]> =>
  projection.read((rows) => [
    ...readThreadTimeline(rows, history, branchId, readTipSeq(rows, history, branchId)),
  ]);

const threadOfDraft = async (
  projection: Projection,
  history: string,
  { branchId, position }: CallRow,
): Promise<ThreadOfCall> => {
  const where = await projection.read((rows) => positionOfFrame(rows, history, branchId, position));
  const { tree, payloads, thread } = await viewOf(projection, where);
  const messages = toOpenAIMessages(tree, payloads, thread).map((message) =>
    hashOfMessage(comparableMessage(message)),
  );
  return { messages, shared: 0, framesOf: () => [] };
};

type Counts = ReturnType<typeof openCounts>;

const openCounts = () => {
  let [checked, compared] = [0, 0];
  const notComparable = new Map<string, number>();
  const problems: CallProblem[] = [];
  const perHistory = new Map<string, number>();
  return {
    checked: (): void => {
      checked++;
    },
    equal: (): void => {
      compared++;
    },
    notComparable: (reason: string) => void notComparable.set(reason, (notComparable.get(reason) ?? 0) + 1),
    problem: (history: string, { attemptId, cycle, location }: CallRow, sentence: string) => {
      const count = (perHistory.get(history) ?? 0) + 1;
      perHistory.set(history, count);
      if (count > MOST_PROBLEMS) return;
      const message = `call @c${cycle} (${attemptId}): ${sentence}`;
      problems.push({ history, seq: location.seq, message });
    },
    result: (): VerifiedCalls => ({
      checked,
      compared,
      notComparable: Object.fromEntries(notComparable),
      problems: [
        ...problems,
        ...[...perHistory].flatMap(([history, count]) =>
          count <= MOST_PROBLEMS
            ? []
            : [{ history, seq: 0, message: `${count - MOST_PROBLEMS} more calls have problems` }],
        ),
      ],
    }),
  };
};
