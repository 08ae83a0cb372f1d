import type { AnswerOf, Endpoints, InputOf } from '@stemma/api';
import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { anySignal } from '@stemma/machine';
import { openAllowedMinds } from '@stemma/model-clients';
import {
  askPool,
  bringVectors,
  embedMissing,
  readBroughtVector,
  requestRun,
  resumeRun,
  runPool,
  startPool,
  stopRun,
  viewRun,
  type BroughtVector,
} from '@stemma/pools';

type PoolEndpoint =
  'startPool' | 'embedPool' | 'runPool' | 'askPool' | 'requestRun' | 'stopRun' | 'resumeRun';
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
