import type { TopCommand } from '../command.ts';
import { required } from '../options.ts';
import { oneLine, printable, table } from '../output.ts';
import { time } from '../time.ts';
import { titled, titleOf } from '../titles.ts';

export const list: TopCommand = {
  name: 'list',
  summary: 'list the saved positions of one history or of all',
  group: 'Save, fork, return',
  place: 2,
  example: 'stemma list mine',
  arguments: [['[history]', 'a history or branch, by id or name (default: all histories)']],
  options: [],
  run: async (context, [name]) => {
    const home = await context.home();
    const history = name === undefined ? undefined : (await home.find(required(name))).history;
    const saved = await home.branches.saved(history);
    const titles = new Map<string, string>();
    for (const { branch } of context.output.json ? [] : saved)
      titles.set(historyIn(branch), await titleOf(home, historyIn(branch)));
    await context.output.result(saved, () =>
      saved.length === 0
        ? 'no saved positions: `stemma save H NAME` saves one\n'
        : table(
            ['ID', 'BRANCH', 'POSITION', 'ROUND', 'BLOCKS', 'PARENT', 'SAVED', 'DESCRIPTION'],
            saved.map((row) => [
              printable(row.id),
              titled(row.branch, historyIn(row.branch), titles.get(historyIn(row.branch)) ?? row.branch),
              row.position.label,
              String(row.round_number ?? '-'),
              String(row.metrics?.blocks ?? '-'),
              row.parent_id ?? '-',
              time(row.created_at),
              oneLine(row.description, 60),
            ]),
            context.output.width,
          ),
    );
    return undefined;
  },
};

/** The history of an address (`HISTORY` or `HISTORY:BRANCH_ID`). */
const historyIn = (address: string): string => address.replace(/:.*$/, '');
