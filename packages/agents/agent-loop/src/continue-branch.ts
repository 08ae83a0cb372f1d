import { canonicalJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { writeRequest } from '@stemma/model-apis';
import type { WholeCallAttempt } from '@stemma/queries';
import { answeredAt } from './answered-at.ts';
import { appendAnswer, appendResult } from './append.ts';
import { mindFor, newestCallBefore, settingsFor } from './call-settings.ts';
import { messagesOf, openToolCalls } from './chat-message.ts';
import type { ContinuedRun, ContinueOptions, RunEnd } from './continue-types.ts';
import { endOfAnswer } from './end-of-answer.ts';
import { isCommitted, tipOf } from './find-tip.ts';
import { withoutEvents } from './first-answer.ts';
import { factsOf, makeCall, recordedTries, type MadeCall } from './record-try.ts';
import { checkRun, endRun, whileClaimed } from './run.ts';
import { startBranch } from './start-branch.ts';
import { refuseOtherTools } from './refuse-other-tools.ts';
import { openToolSources } from './tool-sources.ts';

/** Who records what a run does; the actor has it done. */
const BY = { recorder: 'continue' } as const;

const OWN_WORD =
  'the last message is the model’s own: add one with `stemma inject`, or ask again with `stemma retry`';

type Ending = {
  readonly ended: RunEnd;
  readonly why: string;
  readonly error?: ContinuedRun['error'];
};

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
  const { run, say = () => undefined, signal = new AbortController().signal } = options;
  const { calls: most = 1, tokens = Infinity, tools = [{ kind: 'recorded' } as const] } = options;
  const around = { ...options.minds };
  const asked = await home.position(found, options.at);
  const before = await newestCallBefore(home, asked);
  const mind = mindFor(options.mind, before, around);
  const settings = settingsFor(mind, before, options.set ?? {});
  const { branchRef, since, isOwn } = await startBranch(home, found, asked, options);
  const { history } = branchRef;
  const answerTool = openToolSources(home, branchRef, tools, around.env ?? process.env);
  const made: WholeCallAttempt[] = [];
  let unanswered: WholeCallAttempt | undefined;

  /** Its answer is in the context, whatever became of the process that asked. */
  const enter = async (attempt: WholeCallAttempt, id: string): Promise<void> => {
    if (attempt.answer === null || (await home.read.findCommand(history, id)) !== undefined) return;
    const { messages } = await shown();
    await appendAnswer(home, branchRef, attempt.answer as WideJsonObject, {
      id,
      by: BY,
      ordinal: messages.length,
    });
  };
  const shown = async () => {
    const position = await tipOf(home, branchRef);
    return { position, messages: messagesOf(await home.read.view(position)) };
  };
  const answerTools = async (): Promise<Ending | null> => {
    for (;;) {
      const { messages } = await shown();
      const [call] = openToolCalls(messages);
      if (call === undefined) return null;
      const result = await answerTool(call, signal);
      if (result === null)
        return {
          ended: 'tools',
          why: `nobody knows what ${call.name}(${call.arguments.slice(0, 200)}) gives: name a command with --tools, or record its result`,
        };
      say(
        `${call.name}: answered by ${result.by.source === 'recording' ? `the recording, @s${result.by.seq}` : `a ${result.by.source}`}`,
      );
      const id = `${run}.tool-${messages.length}`;
      await appendResult(home, branchRef, call, result, { id, by: BY, ordinal: messages.length });
    }
  };
  const ask = async (number: number): Promise<MadeCall> => {
    const { position, messages } = await shown();
    const { parameters, tools: offered, stream } = settings;
    const request = writeRequest(mind.api, {
      model: mind.model,
      messages,
      parameters,
      tools: offered,
      stream,
    });
    const commit = !(await isCommitted(home, branchRef));
    let expected = position.seq;
    let isFirst = (await recordedTries(home, history, `${run}.c${number}`)).length === 0;
    const facts = factsOf(mind, request, { parameters, tools: offered });
    return makeCall(
      home,
      history,
      {
        id: `${run}.c${number}`,
        by: BY,
        mind,
        request,
        start: async (id) => {
          if (!isFirst) expected = (await tipOf(home, branchRef)).seq;
          await home.calls.startCallAtTip(branchRef, {
            id,
            by: BY,
            facts,
            commit: commit && isFirst,
            expected,
          });
          isFirst = false;
          return branchRef;
        },
      },
      { ...around, signal },
    );
  };

  /** A run goes on with the mind and the parameters that it began with: others that are named are refused. */
  const refuseOthers = ({ api, model, parameters }: WholeCallAttempt, id: string): void => {
    if (options.mind !== undefined && (api !== mind.api || model !== mind.model))
      throw fail(
        'E_RUN_REUSED',
        `${id} asked ${model ?? 'no model'}, not ${mind.model}: give the run another id`,
      );
    if (
      Object.keys(options.set ?? {}).length > 0 &&
      canonicalJson(parameters) !== canonicalJson(settings.parameters)
    )
      throw fail('E_RUN_REUSED', `${id} had other parameters: give the run another id`);
  };

  /** What the run did before, and what it may have left undone. */
  const takeUp = async (): Promise<void> => {
    for (let number = 1; ; number++) {
      const tries = await recordedTries(home, history, `${run}.c${number}`);
      const attempt = tries.find(({ status }) => status === 'answered');
      const [first] = tries;
      if (first !== undefined) refuseOthers(first, `${run}.c${number}`);
      if (attempt === undefined) break;
      made.push(attempt);
      await enter(attempt, `${run}.c${number}.answer`);
    }
    const earlier = isOwn || made.length > 0 ? undefined : await answeredAt(home, since);
    if (earlier === undefined) return;
    say(`the answer of ${earlier.label} is recorded: it enters the context`);
    await enter(earlier, `${run}.c0.answer`);
  };
  if (options.tools !== undefined) await refuseOtherTools(home, branchRef, since, run, tools);
  const goOn = async (): Promise<Ending> => {
    await takeUp();
    for (;;) {
      signal.throwIfAborted();
      const last = made.at(-1);
      const end = last === undefined ? null : endOfAnswer(last);
      if (end !== null) return end;
      const waiting = await answerTools();
      if (waiting !== null) return waiting;
      if (last === undefined && (await shown()).messages.at(-1)?.['role'] === 'assistant')
        return { ended: 'done', why: OWN_WORD };
      if (made.length >= most) return { ended: 'calls', why: `the run has made ${most} calls` };
      const spent = made.reduce((sum, { usage }) => sum + (usage?.input ?? 0) + (usage?.output ?? 0), 0);
      if (spent >= tokens) return { ended: 'tokens', why: `the run took ${spent} of ${tokens} tokens` };
      const number = made.length + 1;
      const { attempt, error } = await ask(number);
      if (error !== null) {
        unanswered = attempt;
        return { ended: error.code === 'E_CANCELLED' ? 'cancelled' : 'failed', why: error.message, error };
      }
      made.push(attempt);
      say(`${attempt.label}: ${attempt.finishReason ?? 'answered'}`);
      await enter(attempt, `${run}.c${number}.answer`);
    }
  };
  const ending = await goOn().catch((error: unknown): Ending => {
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
    run,
    history,
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
