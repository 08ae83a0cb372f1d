import { exportTree } from '@stemma/context-tree';
import type { CommandLine } from '../command.ts';
import { required } from '../options.ts';

export const exportCommand: CommandLine = {
  name: 'export',
  summary: 'print the canonical bytes of a position: every node with every header',
  arguments: [
    ['<history>', 'a history or lineage, by id or name'],
    ['[ref]', '@t0 @t-1 @c12 @s57 @name:NAME; nothing for the working state'],
  ],
  options: [],
  run: async ({ home: open, output }, [name, ref]) => {
    const home = await open();
    const view = await home.view(
      await home.position(await home.find(required(name)), ref as string | undefined),
    );
    await output.write(exportTree(view.tree, view.payloads));
    return undefined;
  },
};
