import { QUESTIONS } from '@stemma/api';
import { fail, isStemmaError } from '@stemma/errors';
import { NUMBER_FIELDS, parseFilters, TEXT_FIELDS, wordsOfSearch } from '@stemma/search';
import { answersOf } from '../answers.ts';
import { asTyped } from '../as-typed.ts';
import type { Context, TopCommand } from '../command.ts';
import { describeOverview } from '../overview-table.ts';
import { table } from '../output.ts';
import { defined } from '@stemma/values';
import { pastTime, text, whole } from '../options.ts';
import { time } from '../time.ts';

const { sort, group } = QUESTIONS.overview.query.shape;

const FILTERS = {
  texts: TEXT_FIELDS.filter((field) => field !== 'tool').join(', '),
  numbers: NUMBER_FIELDS.filter((field) => field !== 'calls').join(', '),
};

export const histories: TopCommand = {
  name: 'histories',
  summary: 'list the histories, newest first; exit 5 if damage hides all of them',
  group: 'Look',
  place: 3,
  example: 'stemma histories --since 24h',
  arguments: [
    [
      '[words...]',
      `words of the name, or the beginning of the id; filters such as tool:refund (also ${FILTERS.texts}; * for any characters), calls:>10 (also ${FILTERS.numbers}; true, false), since:7d (also until:); in one argument also: "a text" that stands in it`,
    ],
  ],
  options: [
    ['--names', 'the names alone, one a line, without those that have none'],
    ['--figures', 'what was called, shown and spent in each; the default with filters'],
    ['--sort <order>', sort.description ?? ''],
    ['--group <by>', group.description ?? ''],
    ['--limit <count>', 'the most to list (default: all; of figures 100)'],
    ['--skip <count>', 'of figures: the number to skip first'],
    [
      '--since <time>',
      'only those that changed since: 2026-11-20, 2026-11-20T10:00:00Z, or 90m, 24h, 7d ago',
    ],
  ],
  run: async (context, [words], options) => {
    const { home, output } = context;
    const query = [words ?? []].flat().map(asTyped).join(' ');
    if (asksFigures(query, options)) return listFigures(context, query, options);
    const name = query === '' ? undefined : query;
    const limit = whole(options, 'limit', { least: 1 });
    const since = pastTime(options, 'since');
    const filter = {
      ...(name !== undefined && { name }),
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
            ['EVENTS'],
          ),
    );
    return hidden ? 5 : 0;
  },
};

/** Filters, phrases and orders are of figures; words of a name are not. */
const asksFigures = (query: string, options: Readonly<Record<string, unknown>>): boolean =>
  options['figures'] === true ||
  ['sort', 'group', 'skip'].some((option) => options[option] !== undefined) ||
  parseFilters(query, 0).filters.length > 0 ||
  wordsOfSearch(query).some(({ isPhrase, not }) => isPhrase || not);

const listFigures = async (
  { home, output }: Context,
  query: string,
  options: Readonly<Record<string, unknown>>,
): Promise<number | undefined> => {
  const since = pastTime(options, 'since');
  if (options['names'] === true)
    throw fail('E_USAGE', '--names lists names alone: leave out filters and --figures');
  const [order, by] = [text(options, 'sort'), text(options, 'group')];
  const found = await (
    await answersOf(await home())
  ).ask(QUESTIONS.overview, {
    q: [query, ...(since === undefined ? [] : [`since:${new Date(since).toISOString()}`])].join(' ').trim(),
    ...defined({
      sort: order,
      group: by,
      limit: whole(options, 'limit', { least: 1 }),
      skip: whole(options, 'skip', { least: 0 }),
    }),
  });
  await output.result(found, () => describeOverview(found, output.width));
  return found.total === 0 ? 1 : 0;
};
