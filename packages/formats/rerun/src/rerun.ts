import type { WideJsonObject } from '@stemma/canonical';
import type { LiveCall, Match } from './matches.ts';
import type { RerunSummary } from './summary.ts';

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
  /** What came of the calls so far; recorded calls that did not come are missing. */
  readonly summary: () => RerunSummary;
};
