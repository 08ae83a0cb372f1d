import { calledTool, isList } from './difference/message-text.ts';
import type { RerunOptions } from './options.ts';
import type { RecordedAttempt, RecordedCycle, Recording } from './recording.ts';
import { openState } from './rerun-state.ts';

/** What a rerun would do, said before the command starts. */
export type RerunPlan = {
  /** Recorded calls. */
  readonly calls: number;
  /** Those that would be served. */
  readonly served: number;
  /** Calls that cannot be served; unless `onDifference` is `live` the rerun is refused. */
  readonly refused: readonly RefusedCall[];
  /** Names of the tools that the recorded answers called, in order: they run again. */
  readonly tools: readonly string[];
};

export type RefusedCall = { readonly label: string; readonly why: 'unknown' | 'not kept' | 'redacted' };

/**
 * What a rerun would do.
 *
 * @throws E_INPUT_SHAPE for a label that is no call's or two calls', and for a mask that cannot be used
 */
export const planRerun = (recording: Recording, options: RerunOptions): RerunPlan => {
  const { recorded, leftOut } = openState(recording, options);
  const served = recorded.all.filter((call) => !leftOut.has(call)).map(({ cycle }) => cycle);
  const refused = served.flatMap((cycle): RefusedCall[] => {
    const why = refusal(cycle, options);
    return why === null ? [] : [{ label: cycle.label, why }];
  });
  return { calls: recorded.all.length, served: served.length, refused, tools: toolsOf(served) };
};

const refusal = (cycle: RecordedCycle, options: RerunOptions): RefusedCall['why'] | null => {
  const attempts = servedAttempts(cycle, options);
  for (const { attempt } of attempts) {
    if (attempt.outcome === 'unknown') return 'unknown';
    if (attempt.bytes !== 'kept') return attempt.bytes === 'redacted' ? 'redacted' : 'not kept';
  }
  return attempts.length === 0 ? 'not kept' : null;
};

/** The attempts of a call that are served, in order: all, or only the one that was answered. */
export const servedAttempts = (
  { attempts }: RecordedCycle,
  { errors }: Pick<RerunOptions, 'errors'>,
): readonly { readonly attempt: RecordedAttempt; readonly index: number }[] => {
  const numbered = attempts.map((attempt, index) => ({ attempt, index }));
  if (errors === 'recorded') return numbered;
  const answered = numbered.filter(({ attempt }) => isAnswered(attempt));
  return answered.length > 0 ? answered : numbered.slice(-1);
};

const isAnswered = ({ outcome, status }: RecordedAttempt): boolean =>
  outcome === 'finished' && status !== null && status < 400;

const toolsOf = (cycles: readonly RecordedCycle[]): readonly string[] => {
  const names = new Set<string>();
  for (const { attempts } of cycles)
    for (const { answer } of attempts) {
      const calls = answer?.['tool_calls'];
      if (isList(calls)) for (const call of calls) names.add(calledTool(call).name);
    }
  return [...names];
};
