import type { CommandLine } from '../command.ts';
import { required } from '../options.ts';

export const salvage: CommandLine = {
  name: 'salvage',
  summary: 'start a new history from the last good snapshot of one that is damaged or defective',
  arguments: [['<history>', 'the damaged history, by id or name']],
  options: [],
  run: async ({ home: open, output }, [name]) => {
    const home = await open({ create: true });
    const salvaged = await home.salvage(await home.find(required(name)));
    await output.result(
      salvaged,
      () => `${salvaged.history} goes on from frame ${salvaged.seq} of ${salvaged.from}\n`,
    );
    return undefined;
  },
};
