import type { AnswerOf, QUESTIONS } from '@stemma/api';
import type { CallAddress } from '@stemma/events';
import type { Home } from '@stemma/home';
import type { FileDifference } from '@stemma/queries';

type Change = AnswerOf<typeof QUESTIONS.file>['runs'][number]['changes'][number];
type FoundChange = FileDifference['changes'][number];

/** What changes of files are put down to, with the labels of the calls; each call is looked up once. */
export const foundChanges = (
  home: Pick<Home, 'calls'>,
): ((found: FoundChange) => Promise<Omit<Change, 'change' | 'before' | 'after'>>) => {
  const labels = new Map<string, Promise<string>>();
  const labelled = async (call: CallAddress | null): Promise<Change['call']> => {
    if (call === null) return null;
    const { history, branchId, attemptId } = call;
    const known = labels.get(attemptId);
    const label = known ?? home.calls.find(history, attemptId).then((attempt) => attempt.label);
    labels.set(attemptId, label);
    return { history, branchId, attemptId, label: await label };
  };
  return async ({ run, from, until, cause: { why, call, toolCall, tool, of } }) => ({
    run,
    from: await labelled(from),
    until: await labelled(until),
    ...{ why, tool, toolCall, of },
    call: await labelled(call),
  });
};
