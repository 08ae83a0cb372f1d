import type { Outcome } from '@stemma/command-handler';
import { exportTree } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { type Command, historyId } from '@stemma/history';
import type { BranchRef, Position, TreeView } from '@stemma/history-store';
import type { HistorySummary, LoggedEvent, SnapshotSummary } from '@stemma/queries';

/** The new history, and the last good position of the damaged one. */
export type Salvaged = { readonly history: string; readonly from: string; readonly seq: number };

/** What a salvage reads, and how it writes. */
export type SalvageTarget = {
  history(id: string): Promise<HistorySummary>;
  events(history: string, page: { readonly limit: number }): Promise<readonly LoggedEvent[]>;
  snapshots(line: BranchRef, page: { readonly limit: number }): Promise<readonly SnapshotSummary[]>;
  position(line: BranchRef, ref: string): Promise<Position>;
  view(position: Position): Promise<TreeView>;
  submit(command: Command): Promise<Outcome>;
};

/**
 * Starts a new history with the last good snapshot of a branch (its last good state, if it has no snapshot). Salvaging
 * the same state twice gives the same history. What comes from an erasable history is erasable too, about the same subject.
 *
 * @throws E_NOTHING_TO_SALVAGE if the history is open: there is nothing to salvage.
 */
export const salvageBranch = async (home: SalvageTarget, branchRef: BranchRef): Promise<Salvaged> => {
  const { state } = await home.history(branchRef.history);
  if (state === 'open')
    throw fail(
      'E_NOTHING_TO_SALVAGE',
      `the history ${branchRef.history} is not damaged: there is nothing to salvage`,
      {
        history: branchRef.history,
      },
    );
  const [newest] = await home.snapshots(branchRef, { limit: 1 });
  const position = await home.position(branchRef, newest?.label ?? '');
  const { tree, payloads, thread } = await home.view(position);
  const [started] = await home.events(branchRef.history, { limit: 1 });
  const erasable = started?.event.type === 'HistoryStarted' ? started.event.erasable : undefined;
  const command = `salvage:${branchRef.branch}@s${position.seq}`;
  const outcome = await home.submit({
    id: command,
    history: historyId(null, command),
    branchId: 0,
    by: { recorder: 'salvage' },
    steps: [
      {
        op: 'import',
        name: null,
        export: exportTree(tree, payloads),
        thread,
        ...(erasable === undefined ? {} : { erasable }),
        salvaged: { history: branchRef.history, seq: position.seq },
      },
    ],
  });
  return { history: outcome.history, from: branchRef.history, seq: position.seq };
};
