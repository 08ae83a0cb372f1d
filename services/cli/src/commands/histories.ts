import { isStemmaError } from '@stemma/errors';
import type { TopCommand } from '../command.ts';
import { table } from '../output.ts';
import { pastTime, whole } from '../options.ts';
import { time } from '../time.ts';

export const histories: TopCommand = {
  name: 'histories',
  summary: 'list the histories, newest first; exit 5 if damage hides all of them',
  group: 'Look',
  place: 3,
  example: 'stemma histories --since 24h',
  arguments: [['[name]', 'only those with this text in the name, or whose id begins with it (default: all)']],
  options: [
    ['--names', 'the names alone, one a line, without those that have none'],
    ['--limit <count>', 'the most to list (default: all)'],
    [
      '--since <time>',
      'only those that changed since: 2026-11-20, 2026-11-20T10:00:00Z, or 90m, 24h, 7d ago',
    ],
  ],
  run: async ({ home, output }, [name], options) => {
    const limit = whole(options, 'limit', { least: 1 });
    const since = pastTime(options, 'since');
    const filter = {
      ...(typeof name === 'string' && { name }),
      ...(limit !== undefined && { limit }),
      ...(since !== undefined && { since }),
    };
    const opened = await home().catch((error: unknown) => {
      if (isStemmaError(error, 'E_HOME_NOT_FOUND')) return undefined;
      throw error;
    });
    if (options['names'] === true) {
      for (const { name: own } of (await opened?.read.listHistories(filter))?.histories ?? [])
        if (own !== null) await output.write(`${own}\n`);
      return undefined;
    }
    const { total, histories: list } = (await opened?.read.listHistories(filter)) ?? {
      total: 0,
      histories: [],
    };
    if (list.length < total) output.say(`${list.length} of ${total} histories: use --limit for more`);
    const { closed, stopped, sealed } = (await opened?.operations.damage()) ?? {
      closed: [],
      stopped: [],
      sealed: [],
    };
    const damaged = closed.length + stopped.length > 0;
    const none = total === 0 && ((await opened?.read.listHistories({ limit: 1 }))?.total ?? 0) === 0;
    const hidden = none && (damaged || sealed.length > 0);
    const erased = (await opened?.privacy.erased()) ?? [];
    if (erased.length > 0) output.say(`erased: ${erased.join(', ')}`);
    const areCalled = list.some((row) => row.branches.some(({ calledBy }) => calledBy !== null));
    const called = (cell: string): string[] => (areCalled ? [cell] : []);
    const mayContinue = list.some((row) => row.branches.some((branch) => branch.mayContinue !== null));
    const continued = (cell: string): string[] => (mayContinue ? [cell] : []);
    await output.result(list, () =>
      total === 0
        ? hidden
          ? `no history can be shown: ${damaged ? 'the log is damaged' : 'their keys are not in this home'}\n`
          : none
            ? 'no histories: `stemma import FILE` records one\n'
            : 'no history matches\n'
        : table(
            [
              'HISTORY',
              'CYCLES',
              'EVENTS',
              'BRANCHES',
              'STATE',
              'UPDATED',
              'ID',
              ...called('CALLED BY'),
              ...continued('MAY CONTINUE'),
            ],
            list.map((row) => [
              row.name ?? row.history,
              String(row.cycles),
              String(row.events),
              String(row.branches.length),
              row.state,
              time(row.updatedAt),
              row.history,
              ...called(row.branches.find(({ calledBy }) => calledBy !== null)?.calledBy?.history ?? ''),
              ...continued(
                row.branches.find((branch) => branch.mayContinue !== null)?.mayContinue?.history ?? '',
              ),
            ]),
            output.width,
          ),
    );
    return hidden ? 5 : 0;
  },
};
