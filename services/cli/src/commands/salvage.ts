import type { CommandSpec } from '../command.ts';

export const salvage: CommandSpec = {
  name: 'salvage',
  summary: 'start a new history from the last good snapshot of a damaged or defective one',
  arguments: [['<history>', 'the damaged history, by id or name']],
  options: [],
  run: async ({ findBranch: find, output }, [name]) => {
    const { home, branchRef } = await find(name);
    const salvaged = await home.salvage(branchRef);
    await output.result(
      salvaged,
      () => `${salvaged.history} continues from frame ${salvaged.seq} of ${salvaged.from}\n`,
    );
    return undefined;
  },
};
