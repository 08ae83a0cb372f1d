import { exportTree } from '@stemma/context-tree';
import { LOOKING } from '../actor.ts';
import type { CommandLine } from '../command.ts';
import { required } from '../options.ts';

export const exportCommand: CommandLine = {
  name: 'export',
  summary: 'print the canonical bytes of a position: every node with every header',
  arguments: [
    ['<history>', 'a history or lineage, by id or name'],
    ['[ref]', '@t0 @t-1 @c12 @s57 @name:NAME; nothing for the working state'],
  ],
  options: [LOOKING],
  run: async ({ home: open, output, observe }, [name, ref]) => {
    const home = await open();
    const line = await home.find(required(name));
    const view = await home.view(await home.position(line, ref as string | undefined));
    observe(line, 'exported', 'PACT', view.position);
    await output.write(exportTree(view.tree, view.payloads));
    return undefined;
  },
};
