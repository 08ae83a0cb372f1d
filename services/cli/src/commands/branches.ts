import type { BranchNode } from '@stemma/queries';
import type { CommandSpec } from '../command.ts';
import { drawBranches } from '../draw-branches.ts';
import { text } from '../options.ts';
import { titleOf } from '../titles.ts';

export const branches: CommandSpec = {
  name: 'branches',
  summary: 'draw the branches of a history, with saved positions and abandoned branches',
  arguments: [['<history>', 'a history or branch, by id or name']],
  options: [['--of <ref>', 'a position or branch whose lineage alone is drawn (default: all branches)']],
  run: async (context, [name], options) => {
    const { home, branchRef } = await context.findBranch(name);
    const ref = text(options, 'of');
    const branchNodes: readonly BranchNode[] =
      ref === undefined
        ? await home.branches.tree(branchRef.history)
        : await home.branches.ancestors(branchRef, ref);
    const title = await titleOf(home, branchRef.history);
    await context.output.result({ history: branchRef.history, branches: branchNodes }, () =>
      drawBranches(branchNodes, context.output.width, title),
    );
    return undefined;
  },
};
