import type { BranchNode } from '@stemma/queries';
import type { CommandSpec } from '../command.ts';
import { drawBranches } from '../draw-branches.ts';
import { text } from '../options.ts';

export const branches: CommandSpec = {
  name: 'branches',
  summary: 'draw the branches of a history: where they part, what was saved, what was left by a rollback',
  arguments: [['<history>', 'a history or branch, by id or name']],
  options: [['--of <ref>', 'only the ancestors of a position, from the root']],
  run: async (context, [name], options) => {
    const { home, branchRef } = await context.findBranch(name);
    const ref = text(options, 'of');
    const branchNodes: readonly BranchNode[] =
      ref === undefined
        ? await home.branches.tree(branchRef.history)
        : await home.branches.ancestors(await home.position(branchRef, ref));
    await context.output.result({ history: branchRef.history, branches: branchNodes }, () =>
      drawBranches(branchNodes, context.output.width),
    );
    return undefined;
  },
};
