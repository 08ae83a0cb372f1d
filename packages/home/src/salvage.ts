import { exportTree } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { historyId } from '@stemma/history';
import type { Home, Line } from './home.ts';

/**
 * Starts a new history with the last good snapshot of a lineage (its last good state, if it has no snapshot). Salvaging
 * the same state twice gives the same history.
 *
 * @throws E_NOTHING_TO_SALVAGE if the history is open: there is nothing to salvage.
 */
export const salvageLine = async (home: Home, line: Line): ReturnType<Home['salvage']> => {
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
