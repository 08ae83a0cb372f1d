import type { CallFacts } from '@stemma/call-recording';
import { isStemmaError } from '@stemma/errors';
import type { Author } from '@stemma/events';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import {
  askMind,
  mindSurroundings,
  type Mind,
  type MindAttempt,
  type MindOptions,
} from '@stemma/model-clients';
import type { WholeCallAttempt } from '@stemma/queries';

/** A call that is made and recorded, once for each try. */
export type CallToMake = {
  /** The id of its first attempt; further ones have `.try2`, `.try3` behind it. */
  readonly id: string;
  readonly by: Author;
  readonly mind: Mind;
  readonly request: Uint8Array;
  /** Records that an attempt begins, under its id. */
  readonly start: (attemptId: string) => Promise<BranchRef>;
};

/** What became of a call: the attempt that ended it, as it is recorded. */
export type MadeCall = {
  readonly attempt: WholeCallAttempt;
  /** Null if it was answered. */
  readonly error: MindAttempt['error'];
  /** The frame that records its end; null: it was recorded before. */
  readonly seq: number | null;
};

const tryId = (id: string, n: number): string => (n === 1 ? id : `${id}.try${n}`);

/** The attempts of a call that are recorded, the first one first. */
export const recordedTries = async (
  home: Pick<Home, 'calls'>,
  history: string,
  id: string,
): Promise<readonly WholeCallAttempt[]> => {
  const found: WholeCallAttempt[] = [];
  for (let n = 1; ; n++)
    try {
      found.push(await home.calls.find(history, tryId(id, n)));
    } catch (error) {
      if (isStemmaError(error, 'E_CALL_NOT_FOUND')) return found;
      throw error;
    }
};

/**
 * Makes a call and records each try: its start before it is sent, its end when it is known. A call whose answer is recorded is
 * not made again.
 *
 * @throws what recording throws
 */
export const makeCall = async (
  home: Pick<Home, 'calls'>,
  history: string,
  { id, by, mind, request, start }: CallToMake,
  { signal, ...options }: MindOptions & { readonly signal: AbortSignal },
): Promise<MadeCall> => {
  const before = await recordedTries(home, history, id);
  const answered = before.find(({ status }) => status === 'answered');
  if (answered !== undefined) return { attempt: answered, error: null, seq: null };
  const { sleep, random } = mindSurroundings(options);
  let branchRef: BranchRef | undefined;
  let newest = '';
  let seq: number | null = null;
  const last = await askMind(mind, request, {
    sleep,
    random,
    signal,
    before: async (tries) => {
      newest = tryId(id, before.length + tries);
      branchRef = await start(newest);
    },
    after: async (_tries, attempt) => {
      ({ seq } = await home.calls.finishCall(branchRef as BranchRef, {
        by,
        attemptId: newest,
        ...endOf(attempt),
      }));
    },
  });
  return { attempt: await home.calls.find(history, newest), error: last.error, seq };
};

const MOST = 512;

type CallEnding = Omit<Parameters<Home['calls']['finishCall']>[1], 'by' | 'attemptId'>;

const endOf = (attempt: MindAttempt): CallEnding => {
  const { status, httpStatus, answer, response, head, sentAt, firstByteMs, durationMs, error } = attempt;
  return {
    status,
    httpStatus,
    finishReason: answer?.finishReason?.slice(0, MOST) ?? null,
    model: answer?.model?.slice(0, MOST) ?? null,
    usage: answer?.usage ?? null,
    sentAt,
    firstByteMs,
    durationMs,
    error,
    answer: answer?.answer ?? null,
    ...(answer?.answer == null ? {} : { others: answer.others ?? [] }),
    head,
    response,
  };
};

/** What is recorded of a request besides its bytes. */
export const factsOf = (
  mind: Pick<Mind, 'api' | 'model' | 'target'>,
  request: Uint8Array,
  { parameters, tools }: Pick<CallFacts, 'parameters' | 'tools'>,
): Omit<CallFacts, 'found' | 'hashes'> => ({
  api: mind.api,
  model: mind.model.slice(0, MOST),
  parameters,
  tools,
  request,
  sent: mind.target && {
    at: null,
    origin: mind.target.origin,
    path: mind.target.path,
    contentType: 'application/json',
    coding: null,
  },
});
