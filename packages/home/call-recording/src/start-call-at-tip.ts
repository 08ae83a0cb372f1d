import type { Outcome } from '@stemma/command-handler';
import type { Author } from '@stemma/events';
import type { Command } from '@stemma/history';
import type { BranchRef } from '@stemma/history-store';

import type { CallFacts, CallStarter } from './start-call.ts';

/** A call with what a branch shows now, which nobody has to compare with a list of messages. */
export type TipCall = {
  /** The id of the command, and of the attempt. */
  readonly id: string;
  readonly by: Author;
  readonly facts: Omit<CallFacts, 'found' | 'hashes'>;
  /** Ends the cycle first, so that the draft becomes the snapshot that the call is made with. */
  readonly commit: boolean;
  /** The newest frame of the branch when the request was written. */
  readonly expected: number;
};

/**
 * Records that a model is called with the tip of a branch, or with the snapshot that it becomes.
 *
 * @throws E_CONFLICT if the branch has gone on since `expected`, E_COMMAND_REUSED
 */
export const startCallAtTip = async (
  submit: (command: Command) => Promise<Outcome>,
  branchRef: BranchRef,
  { id, by, facts, commit, expected }: TipCall,
  starter: CallStarter,
): Promise<Outcome> => {
  const step = await starter.step(branchRef, facts, [], null);
  const { history, branchId } = branchRef;
  const steps = commit ? [{ op: 'commit' } as const, step] : [step];
  const outcome = await submit({ id, history, branchId, by, expected, steps });
  starter.recorded(branchRef, outcome.events, outcome.seq, facts);
  return outcome;
};
