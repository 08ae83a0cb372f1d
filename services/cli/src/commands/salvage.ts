import type { CommandSpec } from '../command.ts';

export const salvage: CommandSpec = {
  name: 'salvage',
  summary: 'start a new history from the last good snapshot of one that is damaged or defective',
  arguments: [['<history>', 'the damaged history, by id or name']],
  options: [],
  run: async ({ findBranch: find, output }, [name]) => {
    const { home, branchRef } = await find(name);
    const salvaged = await home.salvage(branchRef);
    await output.result(
      salvaged,
      () => `${salvaged.history} goes on from frame ${salvaged.seq} of ${salvaged.from}\n`,
    );
    return undefined;
  },
};
