import type { SnapshotSummary } from '@stemma/queries';
import type { CommandSpec } from '../command.ts';
import { table } from '../output.ts';
import { openThreadHashes } from '../thread.ts';
import { time } from '../time.ts';

export const snapshots: CommandSpec = {
  name: 'snapshots',
  summary: 'list the snapshots of a branch, one for each model call, oldest first',
  arguments: [['<history>', 'a history or branch, by id or name']],
  options: [],
  run: async ({ findBranch: find, output }, [name]) => {
    const { home, branchRef } = await find(name);
    const list: (SnapshotSummary & { readonly threadSha256?: string })[] = [];
    // The hash of the whole thread is made from its bytes, so only where it is printed.
    const hashOf = new Map<number, string>();
    const nextHash = openThreadHashes();
    if (output.json)
      for await (const call of home.questions.calls(branchRef)) hashOf.set(call.seq, nextHash(call));
    for (const snapshot of await home.snapshots(branchRef)) {
      const hash = hashOf.get(snapshot.seq);
      list.push({ ...snapshot, ...(hash !== undefined && { threadSha256: hash }) });
    }
    await output.result(list, () =>
      table(
        ['SNAPSHOT', 'AT', 'BY', 'NODES', 'TURNS', 'TREE', 'THREAD', 'NAMES'],
        list.map((row) => [
          row.label,
          time(row.at),
          'recorder' in row.author ? row.author.recorder : row.author.actor,
          String(row.nodes),
          String(row.turns),
          row.treeHash.slice(0, 12),
          row.threadHash.slice(0, 12),
          row.names.join(' '),
        ]),
      ),
    );
    return undefined;
  },
};
