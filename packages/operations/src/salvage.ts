import type { Outcome } from '@stemma/command-handler';
import { exportTree } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { Command, historyId } from '@stemma/history';
import type { Line, Position, TreeView } from '@stemma/history-store';
import type { HistorySummary, SnapshotSummary } from '@stemma/queries';

/** The new history, and where the damaged one was good to. */
export type Salvaged = { readonly history: string; readonly from: string; readonly seq: number };

/** What a salvage reads, and writes to. */
export type SalvageTarget = {
  history(id: string): Promise<HistorySummary>;
  snapshots(line: Line, page: { readonly limit: number }): Promise<readonly SnapshotSummary[]>;
  position(line: Line, ref: string): Promise<Position>;
  view(position: Position): Promise<TreeView>;
  submit(command: Command): Promise<Outcome>;
};

/**
 * Starts a new history with the last good snapshot of a lineage (its last good state, if it has no snapshot). Salvaging
 * the same state twice gives the same history.
 *
 * @throws E_NOTHING_TO_SALVAGE if the history is open: there is nothing to salvage.
 */
export const salvageLine = async (home: SalvageTarget, line: Line): Promise<Salvaged> => {
  const { state } = await home.history(line.history);
  if (state === 'open')
    throw fail('E_NOTHING_TO_SALVAGE', `the history ${line.history} is whole: there is nothing to salvage`, {
      history: line.history,
    });
  const [newest] = await home.snapshots(line, { limit: 1 });
  const position = await home.position(line, newest?.label ?? '');
  const { tree, payloads, thread } = await home.view(position);
  const command = `salvage:${line.lineage}@s${position.seq}`;
  const outcome = await home.submit({
    id: command,
    history: historyId(null, command),
    lineage: 0,
    by: { recorder: 'salvage' },
    steps: [
      {
        op: 'import',
        name: null,
        export: exportTree(tree, payloads),
        thread,
        salvaged: { history: line.history, seq: position.seq },
      },
    ],
  });
  return { history: outcome.history, from: line.history, seq: position.seq };
};
