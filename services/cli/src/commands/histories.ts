import { isStemmaError } from '@stemma/errors';
import type { CommandSpec } from '../command.ts';
import { table } from '../output.ts';
import { time } from '../time.ts';

export const histories: CommandSpec = {
  name: 'histories',
  summary: 'list the histories, newest first',
  arguments: [],
  options: [],
  run: async ({ home, output }) => {
    const list = await home().then(
      (opened) => opened.histories(),
      (error: unknown) => {
        if (isStemmaError(error, 'E_HOME_NOT_FOUND')) return [];
        throw error;
      },
    );
    await output.result(list, () =>
      list.length === 0
        ? 'no histories: `stemma import FILE` records one\n'
        : table(
            ['HISTORY', 'NAME', 'CYCLES', 'EVENTS', 'BRANCHES', 'STATE', 'UPDATED'],
            list.map((row) => [
              row.history,
              row.name ?? '-',
              String(row.cycles),
              String(row.events),
              String(row.branches.length),
              row.state,
              time(row.updatedAt),
            ]),
          ),
    );
    return undefined;
  },
};
