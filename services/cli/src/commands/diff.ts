import type { CommandLine } from '../command.ts';
import { required } from '../options.ts';
import { printable } from '../output.ts';

export const diff: CommandLine = {
  name: 'diff',
  summary: 'tell what came, what went and what changed from an older position to a newer one',
  arguments: [
    ['<history>', 'a history or lineage, by id or name'],
    ['<older>', '@t-1, @c3, @s57, @name:NAME'],
    ['<newer>', '@t0, @c4, @s60, @name:NAME'],
  ],
  options: [],
  run: async ({ line: find, output }, [name, older, newer]) => {
    const { home, line } = await find(name);
    const result = await home.diff(line, required(older), required(newer));
    await output.result(result, () =>
      [
        ...result.added.map((id) => `+ ${printable(id)}\n`),
        ...result.removed.map((id) => `- ${printable(id)}\n`),
        ...result.changed.map(({ id, fields }) => `~ ${printable(id)}  ${fields.join(', ')}\n`),
      ].join(''),
    );
    return undefined;
  },
};
