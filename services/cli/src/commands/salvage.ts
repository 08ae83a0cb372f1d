import type { CommandLine } from '../command.ts';

export const salvage: CommandLine = {
  name: 'salvage',
  summary: 'start a new history from the last good snapshot of one that is damaged or defective',
  arguments: [['<history>', 'the damaged history, by id or name']],
  options: [],
  run: async ({ line: find, output }, [name]) => {
    const { home, line } = await find(name);
    const salvaged = await home.salvage(line);
    await output.result(
      salvaged,
      () => `${salvaged.history} goes on from frame ${salvaged.seq} of ${salvaged.from}\n`,
    );
    return undefined;
  },
};
