import type { AnswerOf, Endpoints, InputOf } from '@stemma/api';
import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { anySignal } from '@stemma/machine';
import { openAllowedMinds } from '@stemma/model-clients';
import {
  askPool,
  bringVectors,
  embedMissing,
  filterMessages,
  messageDocument,
  messagesNear,
  messagesWithWords,
  poolDocument,
  readBroughtVector,
  requestRun,
  resumeRun,
  runPool,
  startPool,
  stopRun,
  viewPool,
  viewRun,
  viewRuns,
  type BroughtVector,
} from '@stemma/pools';
import { ASKS_NOBODY } from './asks-nobody.ts';
import { poolMetricsDocument } from '@stemma/queries';

type PoolEndpoint =
  | 'startPool'
  | 'pool'
  | 'poolMessages'
  | 'poolMetrics'
  | 'embedPool'
  | 'runPool'
  | 'askPool'
  | 'poolRuns'
  | 'requestRun'
  | 'stopRun'
  | 'resumeRun';
type PoolHandlers = {
  readonly [N in PoolEndpoint]: (
    input: InputOf<Endpoints[N]>,
    request: { readonly signal: () => AbortSignal },
  ) => Promise<AnswerOf<Endpoints[N]>>;
};

export type PoolHandlerOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly closing?: AbortSignal | undefined;
};

/** Seconds after which rounds and questions are cancelled unless their client says otherwise. */
const SECONDS = 300;
/** Runs and questions that are under way at a time. */
const MOST_AT_ONCE = 64;
const MOST_MESSAGES = 1_000;

/** Answers what is asked of pools; what it records goes the way of the command line (docs/pools.md). */
export const poolHandlers = (home: Home, { env, closing }: PoolHandlerOptions): PoolHandlers => {
  const minds = { env, allow: openAllowedMinds(env) };
  let underWay = 0;
  /** What `act` gives: cancelled with its client, with the server, and in time. */
  const asking = async <T>(
    { signal }: { readonly signal: () => AbortSignal },
    seconds: number,
    act: (until: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    if (underWay >= MOST_AT_ONCE) throw fail('E_BUSY', `${MOST_AT_ONCE} runs and questions are under way`);
    underWay++;
    try {
      const late = AbortSignal.timeout(seconds * 1_000);
      return await act(anySignal([signal(), late, ...(closing ? [closing] : [])]));
    } finally {
      underWay--;
    }
  };

  return {
    startPool: async ({ body: { actor, name = null, messages = [], settings, ...given } }, request) =>
      asking(request, SECONDS, (signal) =>
        startPool(home, {
          ...present(given),
          name,
          by: { actor },
          messages,
          settings: settings ?? {},
          minds,
          signal,
        }),
      ),
    embedPool: async ({ history, body: { vectors, seconds = SECONDS, ...given } }, request) => {
      const branchRef = await home.find(history);
      const { position, ...found } = await asking(request, seconds, (signal) => {
        if (vectors !== undefined)
          return bringVectors(home, branchRef, { ...present(given), vectors: vectors.map(broughtVector) });
        const { embedder: _of, ...by } = given;
        if (given.embedder !== undefined)
          throw fail(
            'E_USAGE',
            '`embedder` belongs to `vectors`: without them the embedder of the pool is asked',
          );
        return embedMissing(home, branchRef, { ...present(by), minds, signal });
      });
      return { ...found, position: position.label };
    },
    pool: async ({ history, at }) => poolDocument(await viewPool(home, await home.find(history), at)),
    poolMessages: async ({ history, at, words, like, skip = 0, limit, active, ...rounds }) => {
      if (words !== undefined && like !== undefined)
        throw fail('E_USAGE', '`words` and `like` are two questions: ask one');
      const view = await viewPool(home, await home.find(history), at);
      const most = Math.min(limit ?? (like === undefined ? 100 : 10), MOST_MESSAGES);
      const wanted = filterMessages(view.messages, { ...rounds, active: active === 'true' });
      const found =
        like !== undefined
          ? await messagesNear(home, view, wanted, { text: like, most: skip + most, minds: ASKS_NOBODY })
          : words !== undefined
            ? messagesWithWords(wanted, words)
            : wanted;
      return {
        position: view.position.label,
        total: like === undefined ? found.length : wanted.length,
        messages: found.slice(skip, skip + most).map(messageDocument),
      };
    },
    poolMetrics: async ({ history, at, last }) =>
      poolMetricsDocument(await home.pools.metrics(await home.position(await home.find(history), at)), last),
    runPool: async ({ history, body: { seconds = SECONDS, ...given } }, request) => {
      const branchRef = await home.find(history);
      // The round that is on its way when the time is over is finished: the client waits for it a little longer.
      return asking(request, seconds + 60, (signal) =>
        runPool(home, branchRef, { ...present(given), seconds, minds, signal }),
      );
    },
    askPool: async ({ history, body: { seconds = SECONDS, ...given } }, request) => {
      const branchRef = await home.find(history);
      return asking(request, seconds, async (signal) => {
        const { position, ...reply } = await askPool(home, branchRef, { ...present(given), minds, signal });
        return { ...reply, position: position.label };
      });
    },
    poolRuns: async ({ history, open }) => {
      const of = history === undefined ? {} : { history: (await home.find(history)).history };
      return { runs: [...(await viewRuns(home, { ...of, open: open === 'true' }))] };
    },
    requestRun: async ({ history, body }) =>
      viewRun(home, await requestRun(home, await home.find(history), present(body))),
    stopRun: async ({ history, run, body }) =>
      viewRun(home, await stopRun(home, (await home.find(history)).history, run, present(body))),
    resumeRun: async ({ history, run, body }) =>
      viewRun(home, await resumeRun(home, (await home.find(history)).history, run, present(body))),
  };
};

/** Whose a vector is, and its numbers in single precision. @throws E_VECTORS */
const broughtVector = (
  { vector, ...whose }: NonNullable<InputOf<Endpoints['embedPool']>['body']['vectors']>[number],
  row: number,
): BroughtVector => readBroughtVector({ vector, ...whose }, `vector ${row + 1}`);

/** The fields that are there. */
const present = <T extends object>(given: T): { readonly [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]: Exclude<T[K], undefined>;
  };
