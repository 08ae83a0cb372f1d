import type { WideJsonObject } from '@stemma/canonical';
import { branchRefOf, type BranchRef, type Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { comparableMessage, textOfContent } from '@stemma/model-apis';
import type { CallAttempt, WholeCallAttempt } from '@stemma/queries';
import { messagesOf, toolCallsOf } from './chat-message.ts';
import type { SeenAnswer } from './retry-types.ts';

/** An answer as it is set beside others. */
export const seenAnswer = (attempt: CallAttempt | null, answer: WideJsonObject | null): SeenAnswer => ({
  attempt,
  text: textOfContent(answer?.['content']),
  toolCalls: toolCallsOf(answer),
});

/** An attempt without what only its events hold. */
export const withoutEvents = ({
  parameters: _parameters,
  tools: _tools,
  answer: _answer,
  steered: _steered,
  ...attempt
}: WholeCallAttempt): CallAttempt => attempt;

/** The attempt that was answered among those with a position, else the newest one; null: none is recorded. */
export const attemptAt = async (
  home: Pick<Home, 'calls'>,
  position: Position,
): Promise<WholeCallAttempt | null> => {
  const attempts = await home.calls.at(position);
  const found = attempts.findLast(({ status }) => status === 'answered') ?? attempts.at(-1);
  return found === undefined ? null : home.calls.find(position.history, found.attemptId);
};

/**
 * What was answered first: as it was recorded, else the message that the next snapshot shows behind those of the position.
 */
export const firstAnswer = async (
  home: Pick<Home, 'read' | 'position'>,
  branch: BranchRef,
  position: Position,
  attempt: WholeCallAttempt | null,
): Promise<SeenAnswer | null> => {
  if (attempt?.answer != null) return seenAnswer(withoutEvents(attempt), attempt.answer as WideJsonObject);
  const next = (await home.read.snapshots(branch)).find(({ seq }) => seq > position.seq);
  if (next === undefined) return null;
  const at = await home.position(branchRefOf(position.history, next.branchId), next.label);
  const shown = messagesOf(await home.read.view(position));
  const following = messagesOf(await home.read.view(at));
  const isSame = shown.every(
    (message, i) => comparableMessage(message) === comparableMessage(following[i] ?? null),
  );
  const answer = following[shown.length];
  return isSame && answer?.['role'] === 'assistant' ? seenAnswer(null, answer) : null;
};
