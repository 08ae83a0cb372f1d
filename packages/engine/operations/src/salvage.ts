import type { Outcome } from '@stemma/command-handler';
import { exportTree } from '@stemma/context-tree';
import { fail, nameOfText } from '@stemma/errors';
import { erasableOf } from '@stemma/events';
import { type Command, namesLike, underFreeName } from '@stemma/history';
import type { BranchRef, Position, TreeView } from '@stemma/history-store';
import type { HistorySummary, LoggedEvent, SnapshotSummary } from '@stemma/queries';
import { defined } from '@stemma/values';

/** The new history with its name, and the last good position of the damaged one. */
export type Salvaged = {
  readonly history: string;
  readonly name: string | null;
  readonly from: string;
  readonly seq: number;
};

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
 * Starts a new history with the last good snapshot of a branch (its last good state, if it has no snapshot). It is named
 * after the damaged one, `NAME-salvaged`. Salvaging the same state twice gives the same history. What comes from an erasable history is erasable too, about the same subject.
 *
 * @throws E_NOTHING_TO_SALVAGE if the history is open: there is nothing to salvage.
 */
export const salvageBranch = async (home: SalvageTarget, branchRef: BranchRef): Promise<Salvaged> => {
  const { state, name: damaged } = await home.history(branchRef.history);
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
  const first = await home.events(branchRef.history, { limit: 10 });
  const erasable = erasableOf(first.map(({ event }) => event));
  const command = `salvage:${branchRef.branch}@s${position.seq}`;
  const words = nameOfText(damaged ?? branchRef.history, LONGEST_NAME);
  const names = namesLike(words && `${words}-salvaged`, command);
  return underFreeName(names, command, async (name, history) => {
    await home.submit({
      id: command,
      history,
      branchId: 0,
      by: { recorder: 'salvage' },
      steps: [
        {
          op: 'import',
          name,
          export: exportTree(tree, payloads),
          thread,
          ...defined({ erasable }),
          salvaged: { history: branchRef.history, seq: position.seq },
        },
      ],
    });
    return { history, name, from: branchRef.history, seq: position.seq };
  });
};

/** So many bytes of the damaged history's name are kept: what is appended fits a name, too. */
const LONGEST_NAME = 100;
