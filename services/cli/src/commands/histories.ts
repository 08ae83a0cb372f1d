import { isStemmaError } from '@stemma/errors';
import type { CommandSpec } from '../command.ts';
import { table } from '../output.ts';
import { time } from '../time.ts';

export const histories: CommandSpec = {
  name: 'histories',
  summary: 'list the histories, newest first; exit 5 if damage hides all of them',
  arguments: [],
  options: [],
  run: async ({ home, output }) => {
    const opened = await home().catch((error: unknown) => {
      if (isStemmaError(error, 'E_HOME_NOT_FOUND')) return undefined;
      throw error;
    });
    const list = (await opened?.histories()) ?? [];
    const { closed, stopped, sealed } = (await opened?.damage()) ?? { closed: [], stopped: [], sealed: [] };
    const damaged = closed.length + stopped.length > 0;
    const hidden = list.length === 0 && (damaged || sealed.length > 0);
    const erased = (await opened?.erased()) ?? [];
    if (erased.length > 0) output.say(`erased: ${erased.join(', ')}`);
    await output.result(list, () =>
      list.length === 0
        ? hidden
          ? `no history can be shown: ${damaged ? 'the log is damaged' : 'their keys are not in this home'}\n`
          : 'no histories: `stemma import FILE` records one\n'
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
    return hidden ? 5 : 0;
  },
};
