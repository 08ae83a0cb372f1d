import { defined } from '@stemma/values';
import { answersOf } from '../answers.ts';
import type { TopCommand } from '../command.ts';
import { drawBranches } from '../draw-branches.ts';
import { text } from '../options.ts';
import { titleOf } from '../titles.ts';

export const branches: TopCommand = {
  name: 'branches',
  summary: 'draw the branches of a history, with saved positions and abandoned branches',
  group: 'Look',
  place: 10,
  example: 'stemma branches mine',
  arguments: [['<history>', 'a history or branch, by id or name']],
  options: [['--of <ref>', 'a position or branch whose lineage alone is drawn (default: all branches)']],
  run: async (context, [name], options) => {
    const { home, branchRef } = await context.findBranch(name);
    const asked = { history: branchRef.branch, ...defined({ of: text(options, 'of') }) };
    const found = await (await answersOf(home)).byName.branches(asked);
    const title = await titleOf(home, branchRef.history);
    await context.output.result(found, () => drawBranches(found.branches, context.output.width, title));
    return undefined;
  },
};
