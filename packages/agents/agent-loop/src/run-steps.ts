import type { WideJsonObject } from '@stemma/canonical';
import type { Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { writeRequest } from '@stemma/model-apis';
import type { Mind } from '@stemma/model-clients';
import type { WholeCallAttempt } from '@stemma/queries';
import { appendAnswer, appendResult } from './append.ts';
import type { CallSettings, MindsOptions } from './call-settings.ts';
import { messagesOf, openToolCalls } from './chat-message.ts';
import type { ContinuedRun, ContinueOptions, RunEnd } from './continue-types.ts';
import { isCommitted, tipOf } from './find-tip.ts';
import { factsOf, makeCall, recordedTries, type MadeCall } from './record-try.ts';
import type { RunBranch } from './start-branch.ts';
import type { AnswerTool } from './tool-sources.ts';

/** Who records what a run does; the actor has it done. */
const BY = { recorder: 'continue' } as const;

/** A run that goes on with a mind on its branch. */
export type RunUnderWay = RunBranch & {
  readonly home: Home;
  readonly options: ContinueOptions;
  readonly minds: MindsOptions;
  readonly mind: Mind;
  readonly settings: CallSettings;
  readonly signal: AbortSignal;
  /** The calls whose answers it has, the oldest first. */
  readonly made: WholeCallAttempt[];
};

/** Why a run ended. */
export type RunEnding = {
  readonly ended: RunEnd;
  readonly why: string;
  readonly error?: ContinuedRun['error'];
};

/** The command that makes a call of a run. */
export const callOf = ({ options }: Pick<RunUnderWay, 'options'>, number: number): string =>
  `${options.run}.c${number}`;

/** What the branch of a run shows now. */
export const shownOn = async ({
  home,
  branchRef,
}: Pick<RunUnderWay, 'home' | 'branchRef'>): Promise<{
  readonly position: Position;
  readonly messages: ReturnType<typeof messagesOf>;
}> => {
  const position = await tipOf(home, branchRef);
  return { position, messages: messagesOf(await home.read.view(position)) };
};

/** Its answer is in the context, whatever became of the process that asked. @param call the command that made it */
export const enterAnswer = async (
  run: RunUnderWay,
  { answer }: WholeCallAttempt,
  call: string,
): Promise<void> => {
  const { home, branchRef } = run;
  const id = `${call}.answer`;
  if (answer === null || (await home.read.findCommand(branchRef.history, id)) !== undefined) return;
  const { messages } = await shownOn(run);
  await appendAnswer(home, branchRef, answer as WideJsonObject, { id, by: BY, ordinal: messages.length });
};

/** Answers the tools that the model calls. @returns why the run ends, if nobody knows a result */
export const answerTools = async (run: RunUnderWay, answerTool: AnswerTool): Promise<RunEnding | null> => {
  const { home, branchRef, options, signal } = run;
  for (;;) {
    const { messages } = await shownOn(run);
    const [call] = openToolCalls(messages);
    if (call === undefined) return null;
    const result = await answerTool(call, signal);
    if (result === null)
      return {
        ended: 'tools',
        why: `nobody knows what ${call.name}(${call.arguments.slice(0, 200)}) gives: name a command with --tools, or record its result`,
      };
    options.say?.(
      `${call.name}: answered by ${result.by.source === 'recording' ? `the recording, @s${result.by.seq}` : `a ${result.by.source}`}`,
    );
    const id = `${options.run}.tool-${messages.length}`;
    await appendResult(home, branchRef, call, result, { id, by: BY, ordinal: messages.length });
  }
};

/** Asks the model with what the branch shows, and records the call. */
export const askModel = async (run: RunUnderWay, number: number): Promise<MadeCall> => {
  const { home, branchRef, mind, minds, signal } = run;
  const { parameters, tools, stream } = run.settings;
  const { position, messages } = await shownOn(run);
  const request = writeRequest(mind.api, { model: mind.model, messages, parameters, tools, stream });
  const commit = !(await isCommitted(home, branchRef));
  const call = callOf(run, number);
  let expected = position.seq;
  let isFirst = (await recordedTries(home, branchRef.history, call)).length === 0;
  const facts = factsOf(mind, request, { parameters, tools });
  const start = async (id: string): Promise<typeof branchRef> => {
    if (!isFirst) expected = (await tipOf(home, branchRef)).seq;
    await home.calls.startCallAtTip(branchRef, { id, by: BY, facts, commit: commit && isFirst, expected });
    isFirst = false;
    return branchRef;
  };
  return makeCall(home, branchRef.history, { id: call, by: BY, mind, request, start }, { ...minds, signal });
};
