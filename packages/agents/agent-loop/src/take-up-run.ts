import { canonicalJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { WholeCallAttempt } from '@stemma/queries';
import { answeredAt } from './answered-at.ts';
import { recordedTries } from './record-try.ts';
import { callOf, enterAnswer, type RunUnderWay } from './run-steps.ts';

/**
 * Takes up what a run did before, and does what it may have left undone.
 *
 * @throws E_RUN_REUSED if it asked another mind, or with other parameters
 */
export const takeUp = async (run: RunUnderWay): Promise<void> => {
  const { home, options, made, branchRef, since, isOwn } = run;
  for (let number = 1; ; number++) {
    const call = callOf(run, number);
    const tries = await recordedTries(home, branchRef.history, call);
    const attempt = tries.find(({ status }) => status === 'answered');
    const [first] = tries;
    if (first !== undefined) refuseOthers(run, first, call);
    if (attempt === undefined) break;
    made.push(attempt);
    await enterAnswer(run, attempt, call);
  }
  const earlier = isOwn || made.length > 0 ? undefined : await answeredAt(home, since);
  if (earlier === undefined) return;
  options.say?.(`the answer of ${earlier.label} is recorded: it enters the context`);
  await enterAnswer(run, earlier, callOf(run, 0));
};

/** A run goes on with the mind and the parameters that it began with: others that are named are refused. */
const refuseOthers = (
  { options, mind, settings }: RunUnderWay,
  { api, model, parameters }: WholeCallAttempt,
  call: string,
): void => {
  if (options.mind !== undefined && (api !== mind.api || model !== mind.model))
    throw fail(
      'E_RUN_REUSED',
      `${call} asked ${model ?? 'no model'}, not ${mind.model}: give the run another id`,
    );
  if (
    Object.keys(options.set ?? {}).length > 0 &&
    canonicalJson(parameters) !== canonicalJson(settings.parameters)
  )
    throw fail('E_RUN_REUSED', `${call} had other parameters: give the run another id`);
};
