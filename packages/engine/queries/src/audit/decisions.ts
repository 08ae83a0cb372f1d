import { canonicalJson, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { payloadIn } from '@stemma/history';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import { isFailedBlock, toolCallsOf } from '@stemma/model-apis';
import type { Projection } from '@stemma/projector';
import { listCallsAt } from '@stemma/read-models';
import { diffArrays } from 'diff';
import { catchUpWith } from '../catch-up-with.ts';
import { viewOf } from '../read.ts';
import { walkShown, type DatedMessage, type ShownStep } from '../threads/shown-steps.ts';
import { catchUpWithOther, findAnyPosition } from './find-position.ts';
import type {
  ComparedDecisions,
  DecidedCall,
  DecisionPair,
  DecisionPairing,
  ShownDecision,
} from './decision-types.ts';

/** More differences than this are no alignment any more: all of one side, and all of the other. */
const MOST_EDITS = 5_000;

/**
 * What the models decided on the branches of two positions, of one history or of two, call by call.
 *
 * @throws as compare
 */
export const compareDecisions = async (
  projection: Projection,
  branchRef: BranchRef,
  a: string,
  b: string,
): Promise<ComparedDecisions> => {
  await catchUpWith(projection, branchRef.history);
  for (const text of [a, b]) await catchUpWithOther(projection, branchRef, text);
  const [atA, atB] = await projection.read((rows) => [
    findAnyPosition(rows, branchRef, a),
    findAnyPosition(rows, branchRef, b),
  ]);
  const decisionsA = await decisionsOf(projection, branchRefOf(atA.history, atA.branchId));
  const decisionsB = await decisionsOf(projection, branchRefOf(atB.history, atB.branchId));
  const pairs = alignDecisions(decisionsA, decisionsB);
  const first = pairs.findIndex(({ how }) => how !== 'same' && how !== 'words');
  return {
    a: { history: atA.history, branch: atA.branch, calls: decisionsA.length },
    b: { history: atB.history, branch: atB.branch, calls: decisionsB.length },
    pairs,
    first: first === -1 ? null : first,
  };
};

/** Of each call of a branch what followed it: the messages of the model that came before the next call, and their results. */
const decisionsOf = async (
  projection: Projection,
  branchRef: BranchRef,
): Promise<readonly ShownDecision[]> => {
  const decisions: ShownDecision[] = [];
  let before: ShownStep | null = null;
  for await (const step of walkShown(projection, (position) => viewOf(projection, position), branchRef)) {
    if (before?.cycle != null)
      decisions.push(
        await withAnswer(
          projection,
          branchRef.history,
          decisionIn(before, before.cycle, newMessages(before, step)),
        ),
      );
    before = step;
  }
  return decisions;
};

/** What a step shows that the one before did not: a message that only moved is not new. */
const newMessages = (before: ShownStep, step: ShownStep): readonly DatedMessage[] => {
  const known = new Map<string, number>();
  for (const { message } of before.messages.slice(step.shared)) {
    const key = canonicalJson(message);
    known.set(key, (known.get(key) ?? 0) + 1);
  }
  return step.messages.slice(step.shared).filter(({ message }) => {
    const key = canonicalJson(message);
    const left = known.get(key) ?? 0;
    if (left > 0) known.set(key, left - 1);
    return left === 0;
  });
};

const decisionIn = (
  { branchId, seq }: ShownStep,
  cycle: number,
  messages: readonly DatedMessage[],
): ShownDecision => {
  const results = new Map<string, WideJsonObject>();
  for (const { message } of messages) {
    const id = message['tool_call_id'];
    if (typeof id === 'string') results.set(id, message);
  }
  const said = messages.flatMap(({ message }) => (message['role'] === 'assistant' ? [message] : []));
  return { branchId, seq, cycle, ...decided(said, results) };
};

const decided = (
  said: readonly WideJsonObject[],
  results: ReadonlyMap<string, WideJsonObject>,
): Pick<ShownDecision, 'what' | 'text' | 'calls'> => {
  const calls = said.flatMap((message) =>
    toolCallsOf(message).map(({ id, name, input }): DecidedCall => {
      const result = id === null ? undefined : results.get(id);
      return {
        name,
        input,
        result: result === undefined ? null : textOf(result['content'] ?? null),
        failed: result !== undefined && isFailedResultMessage(result),
      };
    }),
  );
  const text = said
    .map((message) => textOf(message['content'] ?? null))
    .filter((each) => each !== '')
    .join('\n');
  const what = calls.length > 0 ? calls.map(({ name }) => name).join(', ') : text === '' ? '' : 'answer';
  return { what, text, calls };
};

const isFailedResultMessage = (message: WideJsonObject): boolean =>
  isFailedBlock('tool', { content: message['content'], data_message: { fields: message } });

/** The texts of a content: a string, or the text parts of a list. */
const textOf = (content: WideJson): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content === null ? '' : canonicalJson(content);
  return (content as readonly WideJson[])
    .flatMap((part) => {
      const text = isJsonObject(part) ? part['text'] : part;
      return typeof text === 'string' ? [text] : [];
    })
    .join('\n');
};

/** The recorded answer of the newest attempt, where no message says what was decided. */
const withAnswer = async (
  projection: Projection,
  history: string,
  decision: ShownDecision,
): Promise<ShownDecision> => {
  if (decision.what !== '') return decision;
  const { branchId, seq } = decision;
  const at = await projection.read(
    (rows) =>
      listCallsAt(rows, history, { branchId, seq })
        .filter(({ reassignedTo }) => reassignedTo === null)
        .at(-1)?.finished?.location,
  );
  const event = at && (await projection.payloads.events(history, at.seq))[at.index];
  const answer = event === undefined ? undefined : payloadIn(event)['data_answer'];
  return isJsonObject(answer) ? { ...decision, ...decided([answer], new Map()) } : decision;
};

/** Decisions for the same tools are pairs; what stands in the place of another is a pair with it. */
const alignDecisions = (
  a: readonly ShownDecision[],
  b: readonly ShownDecision[],
): readonly DecisionPair[] => {
  const hunks = diffArrays([...a], [...b], {
    comparator: (x, y) => x.what === y.what,
    maxEditLength: MOST_EDITS,
  }) ?? [
    { value: [...a], removed: true, added: false },
    { value: [...b], removed: false, added: true },
  ];
  const pairs: DecisionPair[] = [];
  const at = { a: 0, b: 0 };
  let gone: readonly ShownDecision[] = [];
  let come: readonly ShownDecision[] = [];
  const flush = (): void => {
    for (let i = 0; i < Math.max(gone.length, come.length); i++)
      pairs.push(pairOf(gone[i] ?? null, come[i] ?? null));
    [gone, come] = [[], []];
  };
  for (const { value, removed, added } of hunks) {
    if (removed) gone = a.slice(at.a, (at.a += value.length));
    else if (added) come = b.slice(at.b, (at.b += value.length));
    else {
      flush();
      for (let i = 0; i < value.length; i++) pairs.push(pairOf(a[at.a++] ?? null, b[at.b++] ?? null));
    }
  }
  flush();
  return pairs;
};

const pairOf = (a: ShownDecision | null, b: ShownDecision | null): DecisionPair => ({
  how: howOf(a, b),
  a,
  b,
});

const howOf = (a: ShownDecision | null, b: ShownDecision | null): DecisionPairing => {
  if (a === null) return 'only-b';
  if (b === null) return 'only-a';
  if (a.what !== b.what) return 'tool';
  const inputsOf = ({ calls }: ShownDecision): string => canonicalJson(calls.map(({ input }) => input));
  if (inputsOf(a) !== inputsOf(b)) return 'arguments';
  return a.text === b.text ? 'same' : 'words';
};
