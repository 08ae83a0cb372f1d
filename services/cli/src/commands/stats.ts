import type { TopCommand } from '../command.ts';

export const stats: TopCommand = {
  name: 'stats',
  summary: 'show sizes and counts of the home',
  group: 'Check and mend',
  place: 7,
  example: 'stemma stats',
  arguments: [],
  options: [],
  run: async ({ home: open, output }) => {
    const figures = await (await open()).operations.stats();
    await output.result(figures, () =>
      Object.entries(figures)
        .flatMap(([name, value]) => lines(name, value))
        .join(''),
    );
    return undefined;
  },
};

/** A figure on a line; of several, each on its own, as `partitions.0.end`. */
const lines = (name: string, value: unknown): readonly string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([inner, each]) => lines(`${name}.${inner}`, each))
    : [`${name.padEnd(32)} ${String(value)}\n`];
