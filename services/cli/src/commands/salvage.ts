import type { TopCommand } from '../command.ts';
import { printable } from '../output.ts';
import { titleOf } from '../titles.ts';

export const salvage: TopCommand = {
  name: 'salvage',
  summary: 'start a new history from the last good snapshot of a damaged or defective one',
  group: 'Check and mend',
  place: 5,
  example: 'stemma salvage mine',
  arguments: [['<history>', 'the damaged history, by id or name']],
  options: [],
  run: async ({ findBranch: find, output }, [name]) => {
    const { home, branchRef } = await find(name);
    const salvaged = await home.operations.salvage(branchRef);
    const from = await titleOf(home, salvaged.from);
    await output.result(
      salvaged,
      () =>
        `${printable(salvaged.name ?? salvaged.history)} continues from frame ${salvaged.seq} of ${printable(from)}\n`,
    );
    return undefined;
  },
};
