import type { WideJson } from '@stemma/canonical';
import type { AnswerOf, Endpoints, InputOf } from '@stemma/api';
import { parseByteRange, type Home } from '@stemma/home';
import { commandAnswer, writing } from './commands.ts';
import { positionAnswer } from './lines.ts';

type Question = 'blame' | 'cache' | 'bisect' | 'recordCall';
type QuestionHandlers = {
  readonly [Name in Question]: (input: InputOf<Endpoints[Name]>) => Promise<AnswerOf<Endpoints[Name]>>;
};

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
    const { id, expected, messages, ...who } = body;
    const { kept, replaced, removed, inserted, ...outcome } = await home.recordCall(
      await home.find(history),
      {
        id,
        ...writing(who),
        messages: messages as readonly WideJson[],
        ...(expected === undefined ? {} : { expected }),
      },
    );
    return { ...(await commandAnswer(home, outcome)), kept, replaced, removed, inserted };
  },
  cache: async ({ history }) => {
    const { worst, steps, ...rest } = await home.questions.cache(await home.find(history));
    return { ...rest, worst: [...worst], steps: [...steps] };
  },
});
