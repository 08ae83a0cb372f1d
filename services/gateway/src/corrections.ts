import { type AnswerOf, callAddressAnswer, type Endpoints, type InputOf } from '@stemma/api';
import type { Home } from '@stemma/home';

type Correction = 'assignCall' | 'linkConversation';
type CorrectionHandlers = {
  readonly [Name in Correction]: (input: InputOf<Endpoints[Name]>) => Promise<AnswerOf<Endpoints[Name]>>;
};

/** Corrects whose conversation a call is, and which call led to it. */
export const correctionHandlers = (home: Home): CorrectionHandlers => ({
  assignCall: async ({ history: name, attempt: attemptId, body }) => {
    const { history } = await home.find(name);
    const { to, name: newName = null, following = false, actor, notes = '' } = body;
    const destination = to === null ? { newHistory: newName } : { branch: await home.find(to) };
    const assigned = await home.calls.assignCall(
      { history, attemptId },
      destination,
      { by: { actor }, notes },
      following,
    );
    return {
      assigned: assigned.map(({ from, to: now }) => ({
        from: callAddressAnswer(from),
        to: callAddressAnswer(now),
      })),
    };
  },
  linkConversation: async ({ history: name, body }) => {
    const branchRef = await home.find(name);
    const { parent: given, actor, notes = '' } = body;
    const parent = given === null ? null : await addressOf(home, given.history, given.attempt_id);
    await home.calls.linkConversation(branchRef, parent, { by: { actor }, notes });
    const { history, branch } = branchRef;
    return { history, branch, parent: parent && callAddressAnswer(parent) };
  },
});

const addressOf = async (
  home: Home,
  name: string,
  attemptId: string,
): Promise<{ readonly history: string; readonly branchId: number; readonly attemptId: string }> => {
  const { history } = await home.find(name);
  const { branchId } = await home.calls.find(history, attemptId);
  return { history, branchId, attemptId };
};
