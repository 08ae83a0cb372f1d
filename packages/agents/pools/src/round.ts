import {
  factsOf,
  makeCall,
  mindFor,
  recordedTries,
  settingsFor,
  tipOf,
  type MindsOptions,
} from '@stemma/agent-loop';
import type { WideJsonObject } from '@stemma/canonical';
import { ENDPOINT_FAULTS, fail, isStemmaError, type ErrorCode } from '@stemma/errors';
import type { Step } from '@stemma/history';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { Mind } from '@stemma/model-clients';
import { textOfContent, writeRequest } from '@stemma/model-apis';
import type { WholeCallAttempt } from '@stemma/queries';
import { missingVectors, recordVectors, stepsOfVectors, type TextVector } from './record-vectors.ts';
import { parseAnswer } from './parse-answer.ts';
import type { PoolMessage } from './pool-message.ts';
import { readPool, type PoolState } from './pool-state.ts';
import type { PoolRound } from './run-types.ts';
import { drawSample } from './sample.ts';

/** Who records rounds; the actor has them run. */
const BY = { recorder: 'runner' } as const;

/** The id of a round's call: a round is made once on a branch, whoever runs it, since a command counts once. */
const roundId = (branchId: number, round: number): string => `pool.${branchId}.${round}`;

/** What a round came to: what was recorded, or why its mind did not answer. */
export type RoundOutcome = {
  readonly state: PoolState;
  readonly done: PoolRound | null;
  readonly error: { readonly code: ErrorCode; readonly message: string } | null;
};

export type RoundContext = {
  readonly home: Home;
  readonly branchRef: BranchRef;
  readonly minds: MindsOptions;
  readonly signal: AbortSignal;
};

/**
 * Makes the next round of a pool, or finishes the one that was begun: draws the sample, commits, asks the mind, embeds, adds what it
 * transmits. Each of these is recorded when it is done and under an id that follows from the round, so that a round that was
 * interrupted goes on where it ended, and a recorded answer is never paid for again (pool: Runner).
 *
 * @throws E_CONFLICT if somebody else changed the branch: read the pool again and call it again. E_POOL_TOO_SMALL, E_MIND_…
 */
export const makeRound = async (context: RoundContext, state: PoolState): Promise<RoundOutcome> => {
  const open = await openRound(context, state);
  if (open !== null) return finishRound(context, state, open);
  const round = state.round + 1;
  const embedded = await embedOld(context, state, round);
  if ('error' in embedded) return { state, done: null, error: embedded.error };
  return beginRound(context, embedded, round);
};

const beginRound = async (context: RoundContext, state: PoolState, round: number): Promise<RoundOutcome> => {
  const drawn = state.isDrawn
    ? { seq: state.seq, sampled: state.sampled, messages: state.shown }
    : await drawRound(context, state, round);
  return askRound(context, state, { round, ...drawn, commit: true });
};

/** What an endpoint did not do. A run ends with it, and can go on. */
type Unembedded = { readonly error: NonNullable<RoundOutcome['error']> };

/** The vectors of those of the texts that have none. */
const vectorsOf = async (
  { home, branchRef, minds, signal }: RoundContext,
  { settings: { embedder } }: PoolState,
  texts: readonly string[],
): Promise<readonly TextVector[] | Unembedded> => {
  try {
    return await missingVectors(home, branchRef.history, embedder, texts, { minds, signal });
  } catch (error) {
    if (!isStemmaError(error) || !ENDPOINTS.has(error.code)) throw error;
    const { code, message } = error;
    return { error: { code, message: `the embedder ${embedder}: ${message}` } };
  }
};

/** How an endpoint fails. */
const ENDPOINTS: ReadonlySet<ErrorCode> = new Set([...ENDPOINT_FAULTS, 'E_EMBEDDING_INVALID', 'E_CANCELLED']);

/** Records the vectors of messages that came in another way than from a round: the pool's first ones, and those from outside. */
const embedOld = async (
  context: RoundContext,
  state: PoolState,
  round: number,
): Promise<PoolState | Unembedded> => {
  const { home, branchRef } = context;
  const { messages, embedded, settings, seq } = state;
  if (embedded === messages.length) return state;
  const vectors = await vectorsOf(
    context,
    state,
    messages.slice(embedded).map(({ text }) => text),
  );
  if ('error' in vectors) return vectors;
  const recorded = await recordVectors(home, branchRef, {
    id: roundId(branchRef.branchId, round),
    by: BY,
    embedder: settings.embedder,
    vectors,
    expected: seq,
  });
  return { ...state, seq: recorded ?? seq, embedded: messages.length };
};

type Asked = {
  readonly round: number;
  readonly sampled: readonly string[];
  readonly messages: readonly WideJsonObject[];
  readonly seq: number;
  /** True if the sample stands in the draft. */
  readonly commit: boolean;
};

/** The round whose snapshot is there and whose answer is not in the pool; null: there is none. */
const openRound = async (
  { home, branchRef }: Pick<RoundContext, 'home' | 'branchRef'>,
  { round, messages }: PoolState,
): Promise<{ readonly answered: WholeCallAttempt | null } | null> => {
  // Its messages are the newest, or near them: the others need not be looked at.
  if (round === 0 || messages.findLastIndex((message) => message.round === round && message.mindId >= 0) >= 0)
    return null;
  const { history, branchId } = branchRef;
  if ((await home.read.findCommand(history, `${roundId(branchId, round)}.added`)) !== undefined) return null;
  // The snapshot may be that of the branch from which this one was forked.
  const made = await home.position(branchRef, `@c${round}`);
  const ids = new Set([roundId(branchId, round), roundId(made.branchId, round)]);
  let begun = false;
  for (const id of ids)
    for (const attempt of await recordedTries(home, history, id)) {
      begun = true;
      if (attempt.status !== 'answered') continue;
      return messagesIn(attempt).length === 0 ? null : { answered: attempt };
    }
  return begun ? { answered: null } : null;
};

/** The newest round of a branch that is done: its answer is in the pool, or said nothing. @throws E_NOT_A_POOL */
export const finishedRound = async (home: Home, branchRef: BranchRef): Promise<number> =>
  doneIn(home, branchRef, await readPool(home, branchRef));

/** The newest round that is done in what was read. */
export const doneIn = async (home: Home, branchRef: BranchRef, state: PoolState): Promise<number> =>
  (await openRound({ home, branchRef }, state)) === null ? state.round : state.round - 1;

const finishRound = async (
  context: RoundContext,
  state: PoolState,
  { answered }: { readonly answered: WholeCallAttempt | null },
): Promise<RoundOutcome> => {
  const { round, seq, shown, sampled } = state;
  if (answered === null)
    return askRound(context, state, { round, sampled, messages: shown, seq, commit: false });
  return addRound(context, state, { round, sampled, seq, attempt: answered, mind: mindAt(state, round) });
};

/** The mind that a round asks. */
const mindAt = (
  { settings: { minds } }: PoolState,
  round: number,
): { readonly id: number; readonly spec: string } => {
  const id = (round - 1) % minds.length;
  return { id, spec: minds[id] as string };
};

/** Puts the sample and the prompt of a round into the draft. */
const drawRound = async (
  { home, branchRef: { history, branchId } }: RoundContext,
  { settings, messages, system, seq }: PoolState,
  round: number,
): Promise<Omit<Asked, 'round' | 'commit'>> => {
  const { sample_size: size, active_pool_size: active, seed, prompt } = settings;
  const from = Math.max(0, messages.length - active);
  if (messages.length - from < size)
    throw fail(
      'E_POOL_TOO_SMALL',
      `a round shows ${size} messages, and the active pool has ${messages.length - from}`,
    );
  const sampled = drawSample({ seed, round }, { from, to: messages.length, size }).map(
    (index) => messages[index] as PoolMessage,
  );
  const step = (node: WideJsonObject): Step => ({
    op: 'insert',
    parent: '^ah',
    node: { nodeType: 'cb', offset: -1, ttl: 1, ...node },
  });
  const steps = [
    step({
      role: 'system',
      kind: 'prompt',
      content: prompt,
      data_round: round,
      data_sampled_ids: sampled.map(({ id }) => id),
    }),
    ...sampled.map(({ id, text }) => step({ role: 'user', kind: 'sample', refs: [id], content: text })),
  ];
  const id = `${roundId(branchId, round)}.sample`;
  const outcome = await home.submit({ id, history, branchId, by: BY, expected: seq, steps });
  const said = [
    { role: 'system', content: prompt },
    ...sampled.map(({ text: content }) => ({ role: 'user', content })),
  ];
  return { seq: outcome.seq, sampled: sampled.map((message) => message.id), messages: [...system, ...said] };
};

/** The body that asks a mind, and what is recorded of it besides. */
const requestOf = (mind: Mind, { settings }: PoolState, messages: readonly WideJsonObject[]) => {
  const isOffline = mind.model === 'offline';
  const { parameters } = settingsFor(mind, null, {
    ...(settings.parameters as WideJsonObject),
    ...(isOffline ? { seed: settings.seed } : {}),
  });
  const request = writeRequest(mind.api, {
    model: mind.model,
    messages,
    parameters,
    tools: [],
    stream: false,
  });
  return { request, facts: factsOf(mind, request, { parameters, tools: [] }) };
};

const askRound = async (context: RoundContext, state: PoolState, asked: Asked): Promise<RoundOutcome> => {
  const { home, branchRef, minds, signal } = context;
  const { round, messages } = asked;
  const chosen = mindAt(state, round);
  const mind = mindFor(chosen.spec, null, minds);
  const { request, facts } = requestOf(mind, state, messages);
  let { seq, commit } = asked;
  let isFirst = true;
  const {
    attempt,
    error,
    seq: finished,
  } = await makeCall(
    home,
    branchRef.history,
    {
      id: roundId(branchRef.branchId, round),
      by: BY,
      mind,
      request,
      start: async (id) => {
        // A further try begins behind the end of the one before it, and shows the same.
        if (!isFirst) ({ seq } = await tipOf(home, branchRef));
        isFirst = false;
        const started = await home.calls.startCallAtTip(branchRef, {
          id,
          by: BY,
          facts,
          commit,
          expected: seq,
        });
        // Another runner began this try: what became of it is in the log.
        if (started.repeated) throw fail('E_CONFLICT', `another runner makes round ${round}`);
        commit = false;
        seq = started.seq;
        return branchRef;
      },
    },
    { ...minds, signal },
  );
  const next: PoolState = { ...state, seq: finished ?? seq, round, isDrawn: false };
  if (error !== null) return { state: next, done: null, error };
  return addRound(context, next, { round, sampled: asked.sampled, seq: next.seq, attempt, mind: chosen });
};

/** The messages that an answer transmits. */
const messagesIn = ({ answer }: WholeCallAttempt): readonly string[] =>
  parseAnswer(textOfContent((answer as WideJsonObject | null)?.['content'])).messages;

const addRound = async (
  context: RoundContext,
  state: PoolState,
  {
    round,
    sampled,
    seq,
    attempt,
    mind,
  }: Pick<Asked, 'round' | 'sampled' | 'seq'> & {
    readonly attempt: WholeCallAttempt;
    readonly mind: { readonly id: number; readonly spec: string };
  },
): Promise<RoundOutcome> => {
  const {
    home,
    branchRef: { history, branchId },
  } = context;
  const texts = messagesIn(attempt);
  const tokens = (attempt.usage?.input ?? 0) + (attempt.usage?.output ?? 0);
  const { cost, model } = attempt;
  const first = nextVectorId(state.messages);
  if (texts.length === 0)
    return { state, done: { round, mind: mind.spec, sampled, added: [], tokens, cost, model }, error: null };
  const vectors = await vectorsOf(context, state, texts);
  if ('error' in vectors) return { state, done: null, error: vectors.error };
  const inserted = texts.map((content, i): Step => ({
    op: 'insert',
    parent: '^ah',
    node: {
      nodeType: 'cb',
      offset: 0,
      role: 'assistant',
      kind: 'text',
      content,
      data_vector_id: first + i,
      data_round: round,
      data_mind_id: mind.id,
      data_source: 'mind',
    },
  }));
  const id = `${roundId(branchId, round)}.added`;
  const steps = [...inserted, ...stepsOfVectors(state.settings.embedder, vectors)];
  const outcome = await home.submit({ id, history, branchId, by: BY, expected: seq, steps });
  const ids = outcome.events.flatMap((event) => (event.type === 'NodeInserted' ? [event.node.id] : []));
  const added = texts.map((text, i): PoolMessage => ({
    id: ids[i] as string,
    vectorId: first + i,
    round,
    mindId: mind.id,
    source: 'mind',
    intervention: null,
    text,
  }));
  return {
    state: {
      ...state,
      seq: outcome.seq,
      // Where earlier ones are not looked at yet, these are not counted either.
      embedded: state.embedded + (state.embedded === state.messages.length ? added.length : 0),
      messages: grown(state.messages, added),
    },
    done: { round, mind: mind.spec, sampled, added: ids, tokens, cost, model },
    error: null,
  };
};

/** The number that the next message of a pool gets. */
const nextVectorId = (messages: readonly PoolMessage[]): number => {
  // Numbers rise; an observer may have given a message none, or any.
  let greatest = messages.length - 1;
  for (const { vectorId } of messages.slice(-NEWEST)) greatest = Math.max(greatest, vectorId ?? -1);
  return greatest + 1;
};
const NEWEST = 100;

/** One list that grows, so that a round does not cost more in a larger pool. */
const grown = (messages: readonly PoolMessage[], added: readonly PoolMessage[]): readonly PoolMessage[] => {
  (messages as PoolMessage[]).push(...added);
  return messages;
};
