import {
  type AnswerOf,
  callAnswer,
  commandOfRequest,
  type Endpoints,
  type InputOf,
  positionAnswer,
} from '@stemma/api';
import type { WideJson } from '@stemma/canonical';
import type { Home } from '@stemma/home';
import { parseByteRange } from '@stemma/queries';

type QuestionEndpoint = 'blame' | 'cache' | 'bisect' | 'recordCall';
type QuestionHandlers = {
  readonly [Name in QuestionEndpoint]: (
    input: InputOf<Endpoints[Name]>,
  ) => Promise<AnswerOf<Endpoints[Name]>>;
};

/** Steps of a cache report in one answer. */
const MAX_STEPS = 1_000;

/** What answers the questions about what was sent. */
export const questionHandlers = (home: Home): QuestionHandlers => ({
  blame: async ({ history, at, bytes }) => {
    const range = bytes === undefined ? undefined : parseByteRange(bytes);
    const position = await home.position(await home.find(history), at);
    const { origins, parts, ...rest } = await home.questions.blame(position, range);
    return { ...rest, position: positionAnswer(position), origins: [...origins], parts: [...parts] };
  },
  bisect: async ({ history, holds, ...question }) => {
    const asked = { ...question, not: holds === 'none' };
    const answer = await home.questions.bisect(await home.find(history), asked);
    return {
      ...answer,
      first: positionAnswer(answer.first),
      before: positionAnswer(answer.before),
      matched: [...answer.matched],
      matchedBefore: [...answer.matchedBefore],
      changes: answer.changes.map(({ fields, causes, ...change }) => ({
        ...change,
        fields: [...fields],
        causes: [...causes],
      })),
    };
  },
  recordCall: async ({ history, body }) => {
    const { messages, ...request } = body;
    const call = { ...commandOfRequest(request), messages: messages as readonly WideJson[] };
    return callAnswer(await home.recordCall(await home.find(history), call));
  },
  cache: async ({ history, from = 0, limit = MAX_STEPS }) => {
    const { worst, steps, ...rest } = await home.questions.cache(await home.find(history));
    const end = from + Math.max(1, Math.min(limit, MAX_STEPS));
    const next = end < steps.length ? end : null;
    return { ...rest, worst: [...worst], from, next, steps: steps.slice(from, end) };
  },
});
