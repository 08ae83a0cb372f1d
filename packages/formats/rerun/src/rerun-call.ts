import type { ReadCall } from './read-call.ts';
import type { RecordedCycle, RecordedParent } from './recording.ts';

/** A recorded call, with what it goes on from and whether it was played. */
export type RerunCall = {
  readonly cycle: RecordedCycle;
  readonly read: ReadCall;
  readonly conversation: string;
  /** Its place in its conversation. */
  readonly index: number;
  /** Its place among all calls, by the time at which they were recorded. */
  ordinal: number;
  /** The link of its conversation. */
  readonly parent: RecordedParent | null;
  /** What it is looked up by. */
  readonly key: string;
  /** True if it does not begin with the messages and the answer of another. */
  isBeginning: boolean;
  /** The call that it goes on from; of one that begins with other messages, the one before it in its conversation. */
  before: RerunCall | null;
  /** The call before it in its conversation, or the one that this goes on from. */
  previous: RerunCall | null;
  /** The calls that go on from it. */
  readonly next: RerunCall[];
  /** `stand-in`: a call that differs was compared with it. */
  played: 'no' | 'stand-in' | 'yes';
  nextAttempt: number;
};
