import type { LineageNode } from '@stemma/queries';
import type { CommandLine } from '../command.ts';
import { drawLineages } from '../draw-lineages.ts';
import { text } from '../options.ts';

export const lineage: CommandLine = {
  name: 'lineage',
  summary: 'draw the lineages of a history: where they part, what was saved, what was left by a rollback',
  arguments: [['<history>', 'a history or lineage, by id or name']],
  options: [['--of <ref>', 'only the ancestors of a position, from the root']],
  run: async (context, [name], options) => {
    const { home, line } = await context.line(name);
    const ref = text(options, 'of');
    const lineages: readonly LineageNode[] =
      ref === undefined
        ? await home.lineages.tree(line.history)
        : await home.lineages.ancestors(await home.position(line, ref));
    await context.output.result({ history: line.history, lineages }, () =>
      drawLineages(lineages, context.output.width),
    );
    return undefined;
  },
};
