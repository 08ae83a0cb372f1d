import {
  assignCall,
  assignFrom,
  finishCall,
  linkConversation,
  recordCall,
  startCallAtTip,
  type AssignedCall,
  type Call,
  type CallDestination,
  type CallEnd,
  type CallOutcome,
  type CallStarter,
  type Corrector,
  type LinkedConversation,
  type PlacedCall,
  type RequestRecorder,
  type TipCall,
  type UnplacedCall,
} from '@stemma/call-recording';
import type { Outcome } from '@stemma/command-handler';
import type { CallAddress } from '@stemma/events';
import type { BranchRef } from '@stemma/history-store';
import { claimRun } from '@stemma/operations';
import {
  catchUpWith,
  viewOf,
  openCallAttempts,
  openProgramRuns,
  openWorkspaceFiles,
  type CallAttempts,
  type ProgramRuns,
  type WorkspaceFiles,
} from '@stemma/queries';
import { randomUUID } from 'node:crypto';
import type { HomeServices } from './home-services.ts';

/** What models were asked, and what came back; and how it is recorded. */
export type HomeCalls = CallAttempts &
  ProgramRuns &
  WorkspaceFiles & {
    /** Records the message list of a call that is about to be made: the next snapshot shows it. @throws as `submit`, E_SEALED */
    recordCall(branchRef: BranchRef, call: Call): Promise<CallOutcome>;
    /** Records a call where its messages say that it belongs. @throws as `recordCall`, except E_CONFLICT */
    recordRequest(call: UnplacedCall): Promise<PlacedCall>;
    /** Records that a model is called with what a branch shows now. @throws as `submit` */
    startCallAtTip(branchRef: BranchRef, call: TipCall): Promise<Outcome>;
    /** Records how an attempt to call a model ended. @throws as `submit`, E_CALL_NOT_FOUND */
    finishCall(branchRef: BranchRef, end: CallEnd): Promise<Outcome>;
    /**
     * Corrects the guess about whose conversation a call is: records it where it belongs, and marks where it was.
     *
     * @throws E_CALL_NOT_FOUND, E_COMMAND_INVALID, as `recordCall`
     */
    assignCall(
      call: { readonly history: string; readonly attemptId: string },
      destination: CallDestination,
      corrector: Corrector,
      /** Also those after it on its branch. */
      following?: boolean,
    ): Promise<readonly AssignedCall[]>;
    /**
     * Claims a run of this name for the caller, among all processes of this directory: nobody else makes its calls meanwhile.
     *
     * @returns what gives it back
     * @throws E_BUSY
     */
    claimRun(run: string): () => void;
    /**
     * Says which call led to the conversation on a branch, or that none did.
     *
     * @throws E_COMMAND_INVALID for a circle
     */
    linkConversation(
      branch: BranchRef,
      parent: CallAddress | null,
      corrector: Corrector,
    ): Promise<LinkedConversation>;
  };

/** What recording a call needs of the home that it is a part of. */
type CallTarget = Parameters<typeof recordCall>[0] & Parameters<typeof linkConversation>[0];

export const openCalls = (
  { projection, prices, redactor, directory }: HomeServices,
  target: CallTarget,
  starter: CallStarter,
  requests: RequestRecorder,
): HomeCalls => {
  const record: HomeCalls['recordCall'] = (branchRef, call) =>
    recordCall(target, projection, branchRef, call, starter, redactor);
  const finish: HomeCalls['finishCall'] = (branchRef, end) => {
    const finished = finishCall((command) => target.submit(command), branchRef, end, redactor);
    requests.ending(branchRef, finished);
    return finished;
  };
  const assigning = { ...target, recordCall: record, finishCall: finish };
  return {
    ...openCallAttempts(
      projection,
      (history) => catchUpWith(projection, history),
      prices,
      (position) => viewOf(projection, position),
    ),
    ...openProgramRuns(projection),
    ...openWorkspaceFiles(projection),
    recordCall: record,
    recordRequest: (call) => requests.record(call),
    startCallAtTip: (branchRef, call) =>
      startCallAtTip((command) => target.submit(command), branchRef, call, starter),
    finishCall: finish,
    assignCall: async (call, destination, corrector, following = false) =>
      following
        ? assignFrom(assigning, projection, call, destination, corrector)
        : [await assignCall(assigning, projection, call, destination, corrector)],
    claimRun: (run) => claimRun(directory, run),
    linkConversation: (branchRef, parent, corrector) =>
      linkConversation(target, projection, branchRef, parent, corrector, randomUUID()),
  };
};
