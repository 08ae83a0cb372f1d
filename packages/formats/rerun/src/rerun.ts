import type { WideJsonObject } from '@stemma/canonical';
import { matchCall, noteAnswer } from './match-call.ts';
import type { LiveCall, LiveStart, Match } from './matches.ts';
import type { RerunOptions } from './options.ts';
import type { Recording } from './recording.ts';
import { openState, type RerunState } from './rerun-state.ts';
import type { ObservedCall } from './values/propose-masks.ts';
import { summaryOf, type RerunSummary } from './summary.ts';

/**
 * A live rerun. It holds which recorded calls were played, which call each live conversation has come to, and which values stand
 * for which; calls are matched one after another, in the order in which they come.
 */
export type Rerun = {
  /**
   * What is to become of a call.
   *
   * @param now the time at which it came, in nanoseconds since 1970
   */
  readonly match: (call: LiveCall, now: bigint) => Match;
  /** What a call that went to the provider was answered with, so that what goes on from it is known. */
  readonly answered: (number: number, answer: WideJsonObject | null, answerId: string | null) => void;
  /** Where the conversation of a call left the recording, if it did. @param number that of a call that was matched */
  readonly startOf: (number: number) => LiveStart;
  /** What came of the calls so far; recorded calls that did not come are missing. */
  readonly summary: () => RerunSummary;
  /** The calls that stood for recorded ones, for `proposeMasks`. */
  readonly observed: () => readonly ObservedCall[];
  /** Look-ups since the recording was read: they grow with the messages of calls, not with the number of recorded calls. */
  readonly lookUps: () => number;
};

/**
 * Opens a rerun of a recording.
 *
 * @throws E_INPUT_SHAPE for a label that is no call's or two calls', and for a mask that cannot be used
 */
export const openRerun = (recording: Recording, options: RerunOptions): Rerun => {
  const state = openState(recording, options);
  const read = state.counts.lookUps;
  return {
    match: (call, now) => matchCall(state, call, now),
    answered: (number, answer, answerId) => noteAnswer(state, number, answer, answerId),
    startOf: (number) => {
      const position = state.positionOf.get(number);
      if (position === undefined) throw new RangeError(`no call has the number ${number}`);
      return position.start;
    },
    summary: () => summaryOf(state),
    observed: () => observedIn(state),
    lookUps: () => state.counts.lookUps - read,
  };
};

const observedIn = ({ entries }: RerunState): readonly ObservedCall[] =>
  entries.flatMap(({ call, read }) =>
    call === null
      ? []
      : [
          {
            label: call.cycle.label,
            messages: read.messages.map(({ role, message }) => ({ role, message })),
          },
        ],
  );
