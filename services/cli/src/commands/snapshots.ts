import { attemptAnswer, fidelityNote } from '@stemma/api';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { SnapshotSummary } from '@stemma/queries';
import type { TopCommand } from '../command.ts';
import { table } from '../output.ts';
import { costOf, durationOf, statusOf, tokensOf } from '../call-cells.ts';
import { openThreadHashes } from '../thread.ts';
import { time } from '../time.ts';

export const snapshots: TopCommand = {
  name: 'snapshots',
  summary: 'list the snapshots of a branch, one for each model call, oldest first',
  group: 'Look',
  place: 4,
  example: 'stemma snapshots mine',
  arguments: [['<history>', 'a history or branch, by id or name']],
  options: [],
  run: async ({ findBranch: find, output }, [name]) => {
    const { home, branchRef } = await find(name);
    const list = await home.read.snapshots(branchRef);
    if (output.json) {
      await output.list(withThreadHashes(home, branchRef, list));
      return undefined;
    }
    // Where no call is recorded, nobody knows behind which snapshots one stood.
    const hasCalls = list.some((row) => row.calls !== null);
    const calls = (cell: string): string[] => (hasCalls ? [cell] : []);
    const isImported = list.some((row) => row.call?.fidelity != null);
    const imported = (cell: string): string[] => (isImported ? [cell] : []);
    await output.write(
      table(
        [
          ...['SNAPSHOT', 'AT', 'BY'],
          ...['CALLS', 'MODEL', 'STATUS', 'TOKENS', 'TIME', 'COST'].flatMap(calls),
          ...['NODES', 'TURNS', 'TREE', 'THREAD', 'NAMES', ...imported('FIDELITY')],
        ],
        list.map((row) => [
          row.label,
          time(row.at),
          'recorder' in row.author ? row.author.recorder : row.author.actor,
          ...[row.calls === 0 ? 'none' : String(row.calls), ...callCells(row.call)].flatMap(calls),
          String(row.nodes),
          String(row.turns),
          row.treeHash.slice(0, 12),
          row.threadHash.slice(0, 12),
          row.names.join(' '),
          ...imported(row.call?.fidelity == null ? '' : fidelityNote(row.call.fidelity)),
        ]),
        output.width,
      ),
    );
    return undefined;
  },
};

/** Of the newest attempt with a snapshot. */
const callCells = (call: SnapshotSummary['call']): string[] =>
  call === null
    ? ['', '', '', '', '']
    : [call.model ?? '-', statusOf(call), tokensOf(call), durationOf(call.durationMs), costOf(call)];

/** The snapshots with the SHA-256 of each one's whole thread, which is made from its bytes. */
async function* withThreadHashes(
  home: Home,
  branchRef: BranchRef,
  list: readonly SnapshotSummary[],
): AsyncGenerator {
  const at = new Map(list.map((snapshot) => [snapshot.seq, snapshot]));
  const nextHash = openThreadHashes();
  for await (const call of home.queries.questions.calls(branchRef)) {
    const threadSha256 = nextHash(call);
    const snapshot = at.get(call.seq);
    // A call that came after the list was read is not in it.
    if (snapshot === undefined) continue;
    yield { ...snapshot, call: snapshot.call && attemptAnswer(snapshot.call), threadSha256 };
  }
}
