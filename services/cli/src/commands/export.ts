import { exportTree } from '@stemma/context-tree';
import { OBSERVER_OPTION } from '../actor.ts';
import type { CommandSpec } from '../command.ts';
import { required } from '../options.ts';

export const exportCommand: CommandSpec = {
  name: 'export',
  summary: 'print the canonical bytes of a position: every node with every header',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    ['[ref]', 'a position: @t0 @t-1 @c12 @s57 @name:NAME (default: the working state)'],
  ],
  options: [OBSERVER_OPTION],
  run: async ({ home: open, output, observe }, [name, ref]) => {
    const home = await open();
    const branchRef = await home.find(required(name));
    const view = await home.view(await home.position(branchRef, ref as string | undefined));
    observe(branchRef, 'exported', 'PACT', view.position);
    await output.write(exportTree(view.tree, view.payloads));
    return undefined;
  },
};
