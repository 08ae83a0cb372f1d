import type { WideJsonObject } from '@stemma/canonical';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { WholeCallAttempt } from '@stemma/queries';
import { mindFor, newestCallBefore, settingsFor } from './call-settings.ts';
import type { ContinuedRun, ContinueOptions } from './continue-types.ts';
import { endOfAnswer } from './end-of-answer.ts';
import { tipOf } from './find-tip.ts';
import { withoutEvents } from './first-answer.ts';
import { refuseOtherTools } from './refuse-other-tools.ts';
import {
  answerTools,
  askModel,
  callOf,
  enterAnswer,
  shownOn,
  type RunEnding,
  type RunUnderWay,
} from './run-steps.ts';
import { checkRun, endRun, whileClaimed } from './run.ts';
import { startBranch } from './start-branch.ts';
import { takeUp } from './take-up-run.ts';
import { openToolSources, type AnswerTool } from './tool-sources.ts';

const OWN_WORD =
  'the last message is the model’s own: add one with `stemma inject`, or ask again with `stemma retry`';

/**
 * Goes on from a position with a model: each answer is recorded and enters the context, tools are answered from what is known,
 * and the model is asked again, until it is done or nobody knows how to go on. All of it follows from what is recorded: a run
 * that was killed and is started again under its id makes no call again whose answer is recorded (calls §6).
 *
 * @throws E_BUSY if the run is under way, E_RUN_REUSED if it asked another mind, or tools that are not named now, E_USAGE, E_MIND_…, E_CONFLICT if somebody else writes to the branch, and what recording throws
 */
export const continueBranch = (
  home: Home,
  found: BranchRef,
  options: ContinueOptions,
): Promise<ContinuedRun> => {
  checkRun(options.run);
  return whileClaimed(home, found.history, options.run, () => continueClaimed(home, found, options));
};

const continueClaimed = async (
  home: Home,
  found: BranchRef,
  options: ContinueOptions,
): Promise<ContinuedRun> => {
  const { signal = new AbortController().signal, tools = [{ kind: 'recorded' } as const] } = options;
  const minds = { ...options.minds };
  const asked = await home.position(found, options.at);
  const before = await newestCallBefore(home, asked);
  const mind = mindFor(options.mind, before, minds);
  const settings = settingsFor(mind, before, options.set ?? {});
  const place = await startBranch(home, found, asked, options);
  const { branchRef, since } = place;
  const answerTool = openToolSources(home, branchRef, tools, minds.env ?? process.env);
  const run: RunUnderWay = { ...place, home, options, minds, mind, settings, signal, made: [] };
  const { made } = run;
  if (options.tools !== undefined) await refuseOtherTools(home, branchRef, since, options.run, tools);
  const { unanswered, ...ending } = await goOn(run, answerTool).catch((error: unknown): RunOutcome => {
    if (!signal.aborted) throw error;
    return {
      ended: 'cancelled',
      why: 'it was cancelled',
      error: { code: 'E_CANCELLED', message: 'it was cancelled' },
    };
  });
  await endRun(home, branchRef, { ...options, calls: made.length, since });
  const { branch, label } = await tipOf(home, branchRef);
  return {
    run: options.run,
    history: branchRef.history,
    branch,
    branchId: branchRef.branchId,
    forked: branchRef.branchId !== found.branchId,
    position: label,
    mind: mind.spec,
    calls: [...made, ...(unanswered === undefined ? [] : [unanswered])].map(withoutEvents),
    answer: (made.at(-1)?.answer ?? null) as WideJsonObject | null,
    error: null,
    dropped: settings.dropped,
    ...ending,
  };
};

type RunOutcome = RunEnding & {
  /** The call that failed at last. */
  readonly unanswered?: WholeCallAttempt;
};

/** Answers, enters, asks, until the run is over. */
const goOn = async (run: RunUnderWay, answerTool: AnswerTool): Promise<RunOutcome> => {
  const { made, signal, options } = run;
  const { calls: most = 1, tokens = Infinity } = options;
  await takeUp(run);
  for (;;) {
    signal.throwIfAborted();
    const last = made.at(-1);
    const end = last === undefined ? null : endOfAnswer(last);
    if (end !== null) return end;
    const waiting = await answerTools(run, answerTool);
    if (waiting !== null) return waiting;
    if (last === undefined && (await shownOn(run)).messages.at(-1)?.['role'] === 'assistant')
      return { ended: 'done', why: OWN_WORD };
    if (made.length >= most) return { ended: 'calls', why: `the run has made ${most} calls` };
    const spent = made.reduce((sum, { usage }) => sum + (usage?.input ?? 0) + (usage?.output ?? 0), 0);
    if (spent >= tokens) return { ended: 'tokens', why: `the run took ${spent} of ${tokens} tokens` };
    const number = made.length + 1;
    const { attempt, error } = await askModel(run, number);
    if (error !== null) {
      const ended = error.code === 'E_CANCELLED' ? 'cancelled' : 'failed';
      return { ended, why: error.message, error, unanswered: attempt };
    }
    made.push(attempt);
    options.say?.(`${attempt.label}: ${attempt.finishReason ?? 'answered'}`);
    await enterAnswer(run, attempt, callOf(run, number));
  }
};
