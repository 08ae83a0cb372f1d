import {
  assignCall,
  assignFrom,
  finishCall,
  linkConversation,
  linkImports,
  recordCall,
  recordProviderCall,
  startCallAtTip,
  type AssignedCall,
  type Call,
  type CallDestination,
  type CallEnd,
  type CallOutcome,
  type CallStarter,
  type Corrector,
  type ImportedChild,
  type LinkedConversation,
  type PlacedCall,
  type ProviderCallFacts,
  type RequestRecorder,
  type TipCall,
  type UnplacedCall,
} from '@stemma/call-recording';
import type { Outcome } from '@stemma/command-handler';
import type { CallAddress } from '@stemma/events';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import { claimRun } from '@stemma/operations';
import {
  catchUpWith,
  viewOf,
  openCallAttempts,
  openAnyCalls,
  openProgramRuns,
  openProviderCalls,
  openWorkspaceFiles,
  type CallAttempts,
  type AnyCalls,
  type ProgramRuns,
  type ProviderCalls,
  type WorkspaceFiles,
} from '@stemma/queries';
import { findProviderCallRow, firstCallOfRun, historiesOfRun } from '@stemma/read-models';
import { randomUUID } from 'node:crypto';
import type { HomeServices } from './home-services.ts';

/** What models were asked, and what came back; and how it is recorded. */
export type HomeCalls = CallAttempts &
  ProgramRuns &
  ProviderCalls &
  AnyCalls &
  WorkspaceFiles & {
    /** Records the message list of a call that is about to be made: the next snapshot shows it. @throws as `submit`, E_SEALED */
    recordCall(branchRef: BranchRef, call: Call): Promise<CallOutcome>;
    /** Records a call where its messages say that it belongs. @throws as `recordCall`, except E_CONFLICT */
    recordRequest(call: UnplacedCall): Promise<PlacedCall>;
    /**
     * Where a call without messages belongs, as far as its run says: where it is recorded already, else the branch of the run's first
     * call with messages; undefined: the run has none.
     */
    placeOfProviderCall(attemptId: string, run: string | null): Promise<BranchRef | undefined>;
    /** Records a call without messages on a branch. @throws as `submit` */
    recordProviderCall(branchRef: BranchRef, call: ProviderCallFacts): Promise<BranchRef>;
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
    /** Links imported conversations to the calls that led to them. @returns for each, whether it has a link now */
    linkImports(children: readonly ImportedChild[]): Promise<readonly boolean[]>;
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
  const catchUp = (history: string): Promise<void> => catchUpWith(projection, history);
  const attempts = openCallAttempts(projection, catchUp, prices, (position) => viewOf(projection, position));
  const providerCalls = openProviderCalls(projection, catchUp, prices);
  return {
    ...attempts,
    ...providerCalls,
    ...openAnyCalls(attempts, providerCalls),
    ...openProgramRuns(projection),
    ...openWorkspaceFiles(projection),
    recordCall: record,
    recordRequest: (call) => requests.record(call),
    placeOfProviderCall: async (attemptId, named) => {
      if (named === null) return undefined;
      const run = redactor?.text(named) ?? named;
      await projection.catchUp();
      return projection.read((rows) => {
        for (const history of historiesOfRun(rows, run)) {
          const row = findProviderCallRow(rows, history, attemptId);
          if (row !== undefined) return branchRefOf(history, row.branchId);
        }
        const first = firstCallOfRun(rows, run);
        return first && branchRefOf(first.history, first.branchId);
      });
    },
    recordProviderCall: async (branchRef, call) => {
      const recorded = recordProviderCall((command) => target.submit(command), branchRef, call, redactor);
      requests.ending(branchRef, recorded);
      const { history, branchId } = await recorded;
      return branchRefOf(history, branchId);
    },
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
    linkImports: (children) => linkImports(target, projection, children),
  };
};
