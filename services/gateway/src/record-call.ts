import { type AnswerOf, callAnswer, commandOfRequest, type Endpoints, type InputOf } from '@stemma/api';
import { type WideJson } from '@stemma/canonical';
import type { Home } from '@stemma/home';

/** Records a message list as a call. */
export const recordCallHandler =
  (home: Home) =>
  async ({ history, body }: InputOf<Endpoints['recordCall']>): Promise<AnswerOf<Endpoints['recordCall']>> => {
    const { messages, ...request } = body;
    const call = { ...commandOfRequest(request), messages: messages as readonly WideJson[] };
    return callAnswer(await home.calls.recordCall(await home.find(history), call));
  };
