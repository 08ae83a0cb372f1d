import type { AnswerOf, Endpoints, InputOf } from '@stemma/api';
import { parseByteRange, type Home } from '@stemma/home';
import { positionAnswer } from './lines.ts';

type Question = 'blame';
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
});
