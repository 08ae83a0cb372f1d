import type { CommandLine } from '../command.ts';
import { required } from '../options.ts';
import { table } from '../output.ts';
import { threadSha256 } from '../thread.ts';
import { time } from '../time.ts';

export const snapshots: CommandLine = {
  name: 'snapshots',
  summary: 'list the snapshots of a lineage, oldest first: one for each model call',
  arguments: [['<history>', 'a history or lineage, by id or name']],
  options: [],
  run: async ({ home: open, output }, [name]) => {
    const home = await open();
    const line = await home.find(required(name));
    const list = [];
    for (const snapshot of await home.snapshots(line)) {
      const view = await home.view(await home.position(line, `@c${snapshot.cycle}`));
      list.push({ ...snapshot, threadSha256: threadSha256(view) });
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
