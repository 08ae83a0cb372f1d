import {
  type AnswerOf,
  callAnswer,
  commandOfRequest,
  type Endpoints,
  type InputOf,
  positionAnswer,
} from '@stemma/api';
import { parseWideJson, type WideJson } from '@stemma/canonical';
import type { Home } from '@stemma/home';
import { parseByteRange } from '@stemma/queries';

type QuestionEndpoint = 'blame' | 'cache' | 'calls' | 'sizes' | 'bisect' | 'recordCall';
type QuestionHandlers = {
  readonly [Name in QuestionEndpoint]: (
    input: InputOf<Endpoints[Name]>,
  ) => Promise<AnswerOf<Endpoints[Name]>>;
};

/** Steps of a cache report in one answer. */
const MAX_STEPS = 1_000;

/** Calls of a page: so many at the most, and no more once their messages have so many characters. */
const MAX_CALLS = 1_000;
/** Sizes of a page: those before it are summed up for each. */
const MAX_SIZES = 20_000;
const MAX_CALLS_TEXT = 8 * 1024 * 1024;

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
  calls: async ({ history: name, after, limit = 100 }) => {
    const branchRef = await home.find(name);
    const most = Math.max(1, Math.min(limit, MAX_CALLS));
    const calls: AnswerOf<Endpoints['calls']>['calls'] = [];
    let size = 0;
    let next: number | null = null;
    for await (const { following, ...call } of home.questions.calls(
      branchRef,
      after === undefined ? {} : { after },
    )) {
      const last = calls.at(-1);
      if (last !== undefined && (calls.length === most || size > MAX_CALLS_TEXT)) {
        next = last.cycle;
        break;
      }
      for (const text of following) size += text.length;
      calls.push({ ...call, following: following.map((text) => parseWideJson(text)) });
    }
    const { history, branch, branchId } = branchRef;
    return { history, branch, branchId, calls, next };
  },
  sizes: async ({ history: name, after = -1, limit = MAX_CALLS }) => {
    const branchRef = await home.find(name);
    const most = Math.max(1, Math.min(limit, MAX_SIZES));
    const { tokenizer, sizes, hasMore } = await home.questions.sizes(branchRef, { after, limit: most });
    const { history, branch, branchId } = branchRef;
    const next = hasMore ? (sizes.at(-1)?.cycle ?? null) : null;
    return { history, branch, branchId, tokenizer, sizes: [...sizes], next };
  },
  cache: async ({ history, from = 0, limit = MAX_STEPS }) => {
    const { worst, steps, ...rest } = await home.questions.cache(await home.find(history));
    const end = from + Math.max(1, Math.min(limit, MAX_STEPS));
    const next = end < steps.length ? end : null;
    return { ...rest, worst: [...worst], from, next, steps: steps.slice(from, end) };
  },
});
