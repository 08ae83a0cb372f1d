import type { CommandSpec } from '../command.ts';
import { whole } from '../options.ts';
import { askApart } from './ask-apart.ts';
import { readFileBytes } from './read-files.ts';
import { sayEmbedder, UNIT_OPTION, VECTOR_FILE } from './words.ts';

export const map: CommandSpec = {
  name: 'map',
  summary: 'compute two coordinates for each vector or text, as CSV (UMAP)',
  arguments: [['<file>', VECTOR_FILE]],
  options: [
    ['--seed <number>', 'the seed of the random numbers (default: 0)'],
    ['--neighbours <rows>', 'the nearest rows that stay near on the map (default: 15)'],
    UNIT_OPTION,
  ],
  run: async (context, [file], options) => {
    const seed = whole(options, 'seed', { least: 0 }) ?? 0;
    const neighbours = whole(options, 'neighbours', { least: 2 }) ?? 15;
    const answer = await askApart(
      {
        kind: 'map',
        ...{ seed, neighbours },
        file: await readFileBytes(context, file),
        unit: options['unit'] === true,
      },
      context.signal,
    );
    sayEmbedder(context, answer.embedder);
    await context.output.result(answer, () => {
      const rows = answer.coordinates.map(([x, y], row) => `${row + 1},${x},${y}\n`);
      return `row,x,y\n${rows.join('')}`;
    });
    return undefined;
  },
};
