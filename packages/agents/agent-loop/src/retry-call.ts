import type { WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { isBodyKept } from '@stemma/events';
import { branchRefOf, type BranchRef, type Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { callSteps } from '@stemma/importers';
import type { Mind } from '@stemma/model-clients';
import { defined } from '@stemma/values';
import { comparableMessage, textDifferences } from '@stemma/model-apis';
import { appendAnswer } from './append.ts';
import { mindFor } from './call-settings.ts';
import { messagesOf, sameCallKey } from './chat-message.ts';
import { isCommitted, tipOf } from './find-tip.ts';
import { attemptAt, firstAnswer, seenAnswer, withoutEvents } from './first-answer.ts';
import { factsOf, makeCall, recordedTries } from './record-try.ts';
import { refuseUnfit } from './refuse-unfit.ts';
import { retryRequest, type AskedBefore } from './retry-request.ts';
import type { RetriedAnswer, RetriedCall, RetryOptions, SeenAnswer } from './retry-types.ts';
import { checkRun, whileClaimed } from './run.ts';
import { withSealedEdits } from './sealed-edits.ts';

/** Who records what is asked again; the actor has it done. */
const BY = { recorder: 'retry' } as const;

const MOST = 1_000;

/** One of the calls of a run. */
type Retry = {
  readonly mind: Mind;
  readonly id: string;
  readonly name: string;
  readonly branchRef: BranchRef;
};

/**
 * Asks a recorded call again, changed or not, of one or several minds: each answer is a fork of one call, set beside the first
 * one (calls §6). A run that is started again makes only what is missing.
 *
 * @throws E_BUSY if the run is under way, E_USAGE, E_MIND_…, E_NAME_TAKEN and what recording throws; an answer that did not come is in its place
 */
export const retryCall = (
  home: Home,
  found: BranchRef,
  position: Position,
  options: RetryOptions,
): Promise<RetriedCall> => {
  checkRun(options.run);
  return whileClaimed(home, position.history, options.run, () =>
    retryClaimed(home, found, position, options),
  );
};

const retryClaimed = async (
  home: Home,
  found: BranchRef,
  position: Position,
  given: RetryOptions,
): Promise<RetriedCall> => {
  const { edit } = given;
  const options =
    edit !== undefined && 'steps' in edit
      ? { ...given, edit: { steps: await withSealedEdits(home, found, position, edit.steps) } }
      : given;
  const { run, times = 1, parallel = 4, set = {}, surroundings = {} } = options;
  const attempt = await attemptAt(home, position);
  const named = options.minds === undefined || options.minds.length === 0 ? [undefined] : options.minds;
  const minds = named.map((spec) => mindFor(spec, attempt, surroundings));
  if (times < 1 || times * minds.length > MOST)
    throw fail('E_USAGE', `a call is asked again 1 to ${MOST} times`);
  const body =
    attempt?.request == null || !isBodyKept(attempt.request)
      ? null
      : await home.calls.body(position.history, attempt.attemptId, 'request');
  const before: AskedBefore = { attempt, body };
  // What cannot be asked is found before anything is recorded.
  const messages = options.edit !== undefined && 'messages' in options.edit ? options.edit.messages : [];
  callSteps([], messages);
  const isEdited = options.edit !== undefined;
  for (const mind of minds)
    for (const edited of new Set([true, isEdited]))
      retryRequest(mind, before, set, { messages, isEdited: edited });
  const { actor, notes } = options;
  const isBegun = (await home.read.findCommand(position.history, `${run}.r1.edit`)) !== undefined;
  if (options.edit !== undefined && 'steps' in options.edit && !isBegun)
    await refuseUnfit(home, position, options.edit.steps, {
      by: { actor },
      notes,
      forks: times * minds.length,
    });
  const first = await firstAnswer(home, found, position, attempt);
  await refuseTakenNames(home, position, times * minds.length, options);
  await refuseOtherMinds(
    home,
    position.history,
    minds.flatMap((mind) => Array.from({ length: times }, () => mind)),
    run,
  );
  const retries: Retry[] = [];
  for (const mind of minds)
    for (let time = 0; time < times; time++)
      retries.push(await startFork(home, found, position, mind, retries.length + 1, options));
  const answers: RetriedAnswer[] = [];
  const queue = retries.entries();
  const work = async (): Promise<void> => {
    for (const [i, retry] of queue) answers[i] = await askAgain(home, retry, before, first, options);
  };
  await Promise.all(Array.from({ length: Math.min(parallel, retries.length) }, work));
  const answered = answers.filter(({ isSameTools }) => isSameTools !== null);
  return {
    run,
    history: position.history,
    position: position.label,
    first,
    answers,
    sameTools: { count: answered.filter(({ isSameTools }) => isSameTools).length, of: answered.length },
  };
};

const forkName = (position: Position, number: number, { run, name }: RetryOptions): string =>
  `${name ?? `retry-${position.label.slice(1)}-${run.slice(0, 8)}`}-${number}`;

/** Refuses the name of a fork that another branch has, before there is any fork. @throws E_NAME_TAKEN */
const refuseTakenNames = async (
  home: Home,
  position: Position,
  count: number,
  options: RetryOptions,
): Promise<void> => {
  const { branches } = await home.read.history(position.history);
  const taken = new Set(branches.map(({ name }) => name));
  for (let number = 1; number <= count; number++) {
    const name = forkName(position, number, options);
    if (!taken.has(name)) continue;
    if ((await home.read.findCommand(position.history, `${options.run}.r${number}.fork`)) === undefined)
      throw fail('E_NAME_TAKEN', `there is a branch ${name} already`);
  }
};

/** Refuses a run that asked others, before there is any fork more. @throws E_RUN_REUSED */
const refuseOtherMinds = async (
  home: Home,
  history: string,
  minds: readonly Mind[],
  run: string,
): Promise<void> => {
  for (const [i, mind] of minds.entries()) {
    const id = `${run}.r${i + 1}`;
    const [tried] = await recordedTries(home, history, id);
    if (tried !== undefined && (tried.model !== mind.model || tried.api !== mind.api))
      throw fail('E_RUN_REUSED', `${id} asked ${tried.model ?? 'no model'}, not ${mind.model}`);
  }
};

const startFork = async (
  home: Home,
  { history, branchId }: BranchRef,
  position: Position,
  mind: Mind,
  number: number,
  options: RetryOptions,
): Promise<Retry> => {
  const { run, actor, notes } = options;
  const id = `${run}.r${number}`;
  const name = forkName(position, number, options);
  const known = await home.read.findCommand(history, `${id}.fork`);
  if (known !== undefined)
    return { mind, id, name, branchRef: await newestOf(home, history, known.branchId, name) };
  const started = await home.submit({
    id: `${id}.fork`,
    history,
    branchId,
    by: { actor },
    ...defined({ notes }),
    steps: [
      {
        op: 'fork',
        name,
        description: `${position.label} asked again: ${mind.spec}`,
        at: { branchId: position.branchId, seq: position.seq },
      },
    ],
  });
  return { mind, id, name, branchRef: branchRefOf(history, started.branchId) };
};

/** The branch that has a fork's name now: edited messages may have rolled the fork back. */
const newestOf = async (home: Home, history: string, branchId: number, name: string): Promise<BranchRef> => {
  const { branches } = await home.read.history(history);
  return branchRefOf(history, branches.find((each) => each.name === name)?.branchId ?? branchId);
};

const askAgain = async (
  home: Home,
  { mind, id, name, branchRef: fork }: Retry,
  before: AskedBefore,
  first: SeenAnswer | null,
  {
    actor,
    notes,
    set = {},
    edit,
    surroundings = {},
    signal = new AbortController().signal,
    say,
  }: RetryOptions,
): Promise<RetriedAnswer> => {
  const { history } = fork;
  const by = { actor };
  const because = notes === undefined ? {} : { notes };
  let branchRef = fork;
  if (
    edit !== undefined &&
    'steps' in edit &&
    (await home.read.findCommand(history, `${id}.edit`)) === undefined
  ) {
    const { steps } = await home.branches.resolveSteps(fork, `${id}.edit`, edit.steps);
    await home.submit({
      id: `${id}.edit`,
      history,
      branchId: fork.branchId,
      by,
      ...because,
      steps: [...steps],
    });
  }
  const tip = await tipOf(home, branchRef);
  const shown = messagesOf(await home.read.view(tip));
  const wanted = edit !== undefined && 'messages' in edit ? edit.messages : shown;
  const isReplaced = comparableMessage([...wanted]) !== comparableMessage([...shown]);
  const isEdited = isReplaced || (edit !== undefined && 'steps' in edit);
  const { bytes, how, settings } = retryRequest(mind, before, set, { messages: wanted, isEdited });
  const facts = factsOf(mind, bytes, settings);
  let commit = !isReplaced && !(await isCommitted(home, branchRef));
  const start = async (attemptId: string): Promise<BranchRef> => {
    if (isReplaced) {
      const { branchId } = await home.calls.recordCall(branchRef, {
        id: attemptId,
        by,
        ...because,
        messages: wanted,
        facts,
      });
      return (branchRef = branchRefOf(history, branchId));
    }
    const expected = (await tipOf(home, branchRef)).seq;
    await home.calls.startCallAtTip(branchRef, { id: attemptId, by: BY, facts, commit, expected });
    commit = false;
    return branchRef;
  };
  const made = await makeCall(
    home,
    history,
    { id, by: BY, mind, request: bytes, start },
    { ...surroundings, signal },
  );
  const { attempt, error } = made;
  const answer = error === null ? (attempt.answer as WideJsonObject | null) : null;
  branchRef = branchRefOf(history, attempt.branchId);
  if (answer !== null && (await home.read.findCommand(history, `${id}.answer`)) === undefined)
    await appendAnswer(home, branchRef, answer, { id: `${id}.answer`, by: BY, ordinal: wanted.length });
  say?.(`${name}: ${error === null ? (attempt.finishReason ?? 'answered') : error.message}`);
  const seen = seenAnswer(withoutEvents(attempt), answer);
  return {
    ...seen,
    mind: mind.spec,
    branch: (await tipOf(home, branchRef)).branch,
    branchId: branchRef.branchId,
    name,
    request: how,
    dropped: settings.dropped,
    error,
    ...comparedWith(first, answer === null ? null : seen),
  };
};

type Compared = Pick<RetriedAnswer, 'differences' | 'isSameText' | 'isSameTools'>;

const comparedWith = (first: SeenAnswer | null, seen: SeenAnswer | null): Compared => {
  if (first === null || seen === null) return { differences: null, isSameText: null, isSameTools: null };
  const keys = ({ toolCalls }: SeenAnswer): string => JSON.stringify(toolCalls.map(sameCallKey));
  return {
    differences: textDifferences(first.text, seen.text),
    isSameText: first.text === seen.text,
    isSameTools: keys(first) === keys(seen),
  };
};
