import { type AnswerOf, attemptAnswer, type Endpoints, type InputOf } from '@stemma/api';
import type { WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { branchRefOf, type BranchRef, type Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { anySignal } from '@stemma/machine';
import type { MindsOptions } from './call-settings.ts';
import { continueBranch } from './continue-branch.ts';
import { retryCall } from './retry-call.ts';
import type { SeenAnswer } from './retry-types.ts';

type RunEndpoint = 'continueBranch' | 'retryCall';

/** Answers requests of the contract that ask models. @param signal aborts when nobody waits for the answer any more */
export type RunAnswers = {
  readonly [Name in RunEndpoint]: (
    input: InputOf<Endpoints[Name]>,
    signal: AbortSignal,
  ) => Promise<AnswerOf<Endpoints[Name]>>;
};

/** Seconds after which a run is cancelled unless its client says otherwise. */
const SECONDS = 300;

/** Runs that are under way at a time. */
const MOST_RUNS = 64;

/**
 * What asks models. The answer comes when the run has ended; a client that goes, the deadline of the run, or the end of the
 * server cancels it. It can be sent again under its id: what is recorded is not paid for twice.
 */
export const openRuns = (
  home: Home,
  { closing, ...surroundings }: MindsOptions & { readonly closing?: AbortSignal },
): RunAnswers => {
  const running = new Set<string>();
  /** Two processes of one run would ask twice; here there is one. */
  const once = async <T>(history: string, run: string, act: () => Promise<T>): Promise<T> => {
    const key = `${history} ${run}`;
    if (running.has(key)) throw fail('E_BUSY', `the run ${run} is under way`);
    if (running.size >= MOST_RUNS) throw fail('E_BUSY', `${MOST_RUNS} runs are under way`);
    running.add(key);
    try {
      return await act();
    } finally {
      running.delete(key);
    }
  };
  const signalOf = (signal: AbortSignal, seconds = SECONDS): AbortSignal =>
    anySignal([signal, AbortSignal.timeout(seconds * 1_000), ...(closing ? [closing] : [])]);

  return {
    continueBranch: async ({ history, body: { set, tools = 'recorded', seconds, ...given } }, asked) => {
      const branchRef = await home.find(history);
      const result = await once(branchRef.history, given.run, () =>
        continueBranch(home, branchRef, {
          ...present(given),
          tools: tools === 'none' ? [] : [{ kind: 'recorded' }],
          set: (set ?? {}) as WideJsonObject,
          minds: surroundings,
          signal: signalOf(asked, seconds),
        }),
      );
      return { ...result, calls: result.calls.map(attemptAnswer), dropped: [...result.dropped] };
    },
    retryCall: async ({ history, body: { set, call, messages, seconds, ...given } }, asked) => {
      const branchRef = await home.find(history);
      const position = await positionOfCall(home, branchRef, call);
      const { first, answers, ...rest } = await once(branchRef.history, given.run, () =>
        retryCall(home, branchRef, position, {
          ...present(given),
          set: (set ?? {}) as WideJsonObject,
          ...(messages === undefined ? {} : { edit: { messages: messages as readonly WideJsonObject[] } }),
          surroundings,
          signal: signalOf(asked, seconds),
        }),
      );
      return {
        ...rest,
        first: first === null ? null : seenOf(first),
        answers: answers.map(({ dropped, differences, ...answer }) => ({
          ...answer,
          ...seenOf(answer),
          dropped: [...dropped],
          differences: differences === null ? null : [...differences],
        })),
      };
    },
  };
};

/** The fields that are there. */
const present = <T extends object>(given: T): { readonly [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]: Exclude<T[K], undefined>;
  };

const seenOf = ({ attempt, text, toolCalls }: SeenAnswer) => ({
  attempt: attempt === null ? null : attemptAnswer(attempt),
  text,
  toolCalls: [...toolCalls],
});

/** @throws E_CALL_NOT_FOUND */
const positionOfCall = async (home: Home, branchRef: BranchRef, call: string): Promise<Position> => {
  if (call.includes('@')) return home.position(branchRef, call);
  const { branchId, seq } = await home.calls.find(branchRef.history, call);
  return home.position(branchRefOf(branchRef.history, branchId), `@s${seq}`);
};
