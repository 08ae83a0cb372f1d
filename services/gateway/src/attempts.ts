import { type AnswerOf, attemptAnswer, type Endpoints, type InputOf, wholeAttemptAnswer } from '@stemma/api';
import type { Home } from '@stemma/home';

type AttemptEndpoint = 'attempts' | 'attempt' | 'attemptRequest' | 'attemptCame' | 'attemptResponse';
type AttemptHandlers = {
  readonly [Name in AttemptEndpoint]: (input: InputOf<Endpoints[Name]>) => Promise<AnswerOf<Endpoints[Name]>>;
};

const MAX_PAGE = 1_000;

/** What answers which calls were made, with what, and what came back. */
export const attemptHandlers = (home: Home): AttemptHandlers => ({
  attempts: async ({ history: name, from = 0, limit = 100 }) => {
    const branchRef = await home.find(name);
    const page = { from, limit: Math.max(1, Math.min(limit, MAX_PAGE)) };
    const { attempts, next } = await home.calls.list(branchRef, page);
    const { history, branch, branchId } = branchRef;
    return { history, branch, branchId, attempts: attempts.map(attemptAnswer), next };
  },
  attempt: async ({ history, attempt }) =>
    wholeAttemptAnswer(await home.calls.find((await home.find(history)).history, attempt)),
  attemptRequest: (input) => bodyOf(home, input, 'request'),
  attemptCame: (input) => bodyOf(home, input, 'came'),
  attemptResponse: (input) => bodyOf(home, input, 'response'),
});

/** The contract's clients read texts; what is written is the bytes. */
const bodyOf = async (
  home: Home,
  { history, attempt }: { readonly history: string; readonly attempt: string },
  which: 'request' | 'came' | 'response',
): Promise<string> =>
  (await home.calls.body((await home.find(history)).history, attempt, which)) as unknown as string;
