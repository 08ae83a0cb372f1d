import { toWireJson } from '@stemma/api';
import type { CommandSpec } from '../command.ts';

export const stats: CommandSpec = {
  name: 'stats',
  summary: 'show sizes and counts of the home',
  arguments: [],
  options: [],
  run: async ({ home: open, output }) => {
    const figures = await (await open()).stats();
    await output.result(figures, () =>
      Object.entries(figures)
        .map(
          ([name, value]) =>
            `${name.padEnd(24)} ${typeof value === 'object' ? toWireJson(value) : String(value)}\n`,
        )
        .join(''),
    );
    return undefined;
  },
};
