import { describeIntervention, NAMED_INTERVENTIONS, nameOfIntervention } from '@stemma/api';
import { isJsonObject, type WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { INTERVENTIONS } from '@stemma/events';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { Intervention, InterventionFilter } from '@stemma/queries';
import { INTERVENTION_FORMATS, interventionLines } from '@stemma/reports';
import { nanosecondsOf } from '@stemma/values';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context, TopCommand } from '../command.ts';
import { openExcerpts } from '../excerpts.ts';
import { showIntervention } from '../interventions/show.ts';
import { text, whole } from '../options.ts';
import { cutAt, oneLine, type Output } from '../output.ts';
import { titleOf, withTitles } from '../titles.ts';

type Options = Readonly<Record<string, unknown>>;

/** So many are printed as a table unless more are asked for. */
const MAX_TABLE_ROWS = 1_000;

const TYPES = [...INTERVENTIONS, ...Object.keys(NAMED_INTERVENTIONS)];

export const interventions: TopCommand = {
  name: 'interventions',
  summary: 'list the interventions in a history, or in all histories; `interventions show` prints one',
  group: 'Ask why',
  place: 12,
  example: 'stemma interventions mine --actor ada',
  arguments: [['[history]', 'a history or branch, by id or name (default: all histories)']],
  options: [
    ['--type <type>', `the type: ${TYPES.join(', ')}`],
    ['--actor <name>', 'the actor'],
    ['--after <time>', 'the earliest time: 2026-11-21, 2026-11-21T10:00:00Z'],
    ['--before <time>', 'the time that all are earlier than'],
    ['--snapshot <ref>', 'the position before or after the intervention: @c3, BRANCH@c3'],
    ['--branch <name>', 'the branch, by name or number (default: all branches)'],
    ['--limit <count>', `the most to list (default: ${MAX_TABLE_ROWS} in a table, else all)`],
    ['--skip <count>', 'the number to skip first (default: 0)'],
    ['--format <format>', 'the format: table, jsonl, csv (default: table; with --json or --output: jsonl)'],
    ['-o, --output <file>', 'the output file (default: stdout)'],
  ],
  subcommands: [showIntervention],
  run: async (context, [name], options) => {
    const { output } = context;
    const file = text(options, 'output');
    const format = formatOf(options, output.json || file !== undefined);
    const limit = whole(options, 'limit', { least: 0 }) ?? (format === 'table' ? MAX_TABLE_ROWS : Infinity);
    const skip = whole(options, 'skip', { least: 0 }) ?? 0;
    const filter = filterOf(options);
    const type = text(options, 'type');
    const all = await openInterventions(context, name as string | undefined, filter);
    const found = sliceOf(
      type === undefined || type === filter.type ? all : onlyNamed(all, type),
      skip,
      limit,
    );
    if (format === 'table') await printTable(output, found, await context.home(), name === undefined);
    else if (file === undefined)
      for await (const lines of interventionLines(found, format)) await output.writeLines(lines);
    else {
      await pipeline(
        Readable.from(interventionLines(found, format)),
        createWriteStream(file, { mode: 0o600 }),
        {
          signal: context.signal,
        },
      );
      output.say(`wrote ${file}`);
    }
    return undefined;
  },
};

const formatOf = (options: Options, lines: boolean): 'table' | (typeof INTERVENTION_FORMATS)[number] => {
  const format = text(options, 'format') ?? (lines ? 'jsonl' : 'table');
  if (format === 'table' && !lines) return format;
  const found = INTERVENTION_FORMATS.find((each) => each === format);
  if (found === undefined) throw fail('E_USAGE', `--format must be ${lines ? '' : 'table, '}jsonl or csv`);
  return found;
};

const filterOf = (options: Options): InterventionFilter => {
  const filter: { -readonly [name in keyof InterventionFilter]: InterventionFilter[name] } = {};
  const type = text(options, 'type');
  if (type !== undefined) {
    const known = INTERVENTIONS.find((each) => each === type) ?? recordedAs(type);
    if (known === undefined) throw fail('E_USAGE', `--type must be one of ${TYPES.join(', ')}`);
    filter.type = known;
  }
  for (const name of ['actor', 'snapshot', 'branch'] as const) {
    const value = text(options, name);
    if (value !== undefined) filter[name] = value;
  }
  for (const name of ['after', 'before'] as const) {
    const value = text(options, name);
    if (value !== undefined) filter[name] = nanoseconds(value, name);
  }
  return filter;
};

/** The type of what has a name of its own; undefined: nothing has that name. */
const recordedAs = (name: string): InterventionFilter['type'] =>
  Object.entries(NAMED_INTERVENTIONS).find(([own]) => own === name)?.[1];

/** A time as ISO 8601, in UTC unless it names a zone; a day means its beginning. A day that no month has is refused. */
const nanoseconds = (value: string, name: string): bigint => {
  const [, day, hours, zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:[T ]([\d:.]+)(Z|[+-]\d\d:?\d\d)?)?$/.exec(value) ?? [];
  const time = Date.parse(hours === undefined ? `${day}` : `${day}T${hours}${zone}`);
  const start = Date.parse(`${day}`);
  if (Number.isNaN(time) || Number.isNaN(start) || new Date(start).toISOString().slice(0, 10) !== day)
    throw fail(
      'E_USAGE',
      `--${name} must be a time such as 2026-11-21T10:00:00Z, not ${JSON.stringify(value.slice(0, 60))}`,
    );
  return nanosecondsOf(time);
};

const openInterventions = async (
  context: Context,
  name: string | undefined,
  filter: InterventionFilter,
): Promise<AsyncIterable<Intervention>> => {
  if (name !== undefined) {
    const { home, branchRef } = await context.findBranch(name);
    // Who names a branch asks for what was done on it.
    const own = name.includes(':') ? { branch: String(branchRef.branchId) } : {};
    return untilCancelled(context, home, [branchRef], { ...own, ...filter });
  }
  if (filter.snapshot !== undefined || filter.branch !== undefined)
    throw fail('E_USAGE', '--snapshot and --branch need a history: name one');
  const home = await context.home();
  const branchRefs: BranchRef[] = [];
  for (const { history } of await home.read.histories())
    branchRefs.push({ history, branchId: 0, branch: history });
  return untilCancelled(context, home, branchRefs, filter);
};

const untilCancelled = async function* (
  { signal }: Context,
  home: Home,
  branchRefs: readonly BranchRef[],
  filter: InterventionFilter,
): AsyncIterable<Intervention> {
  for (const branchRef of branchRefs)
    for await (const one of home.queries.audit.eachIntervention(branchRef, filter)) {
      signal.throwIfAborted();
      yield one;
    }
};

const onlyNamed = async function* (
  source: AsyncIterable<Intervention>,
  name: string,
): AsyncIterable<Intervention> {
  for await (const one of source) if (nameOfIntervention(one) === name) yield one;
};

const sliceOf = async function* (
  source: AsyncIterable<Intervention>,
  skip: number,
  limit: number,
): AsyncIterable<Intervention> {
  let at = 0;
  if (limit === 0) return;
  for await (const one of source) {
    at++;
    if (at <= skip) continue;
    yield one;
    if (at - skip >= limit) return;
  }
};

/** What was done, in words: branches by name, and how the first edited node begins. */
const openWords = (home: Home): ((one: Intervention) => Promise<string>) => {
  const excerptOf = async (one: Intervention, id: string): Promise<string> => {
    const branchRef = branchRefOf(one.history, one.branchId);
    // What was removed is there before only.
    for (const at of [one.snapshot_after, one.snapshot_before]) {
      if (at === null) continue;
      const words = openExcerpts(await home.read.partialView(await home.position(branchRef, at), [id]))(id);
      if (words !== undefined) return `  ${words}`;
    }
    return '';
  };
  return async (one) => {
    const { forked_to: forked, commands } = one.content;
    const said = describeIntervention(one);
    if (one.intervention_type === 'fork' && typeof forked === 'string')
      return `${await withTitles(home, forked)}${said === '' ? '' : `: ${said}`}`;
    const [first, ...others] = Array.isArray(commands) ? (commands as readonly WideJson[]) : [];
    if (others.length > 0 || !isJsonObject(first) || typeof first['id'] !== 'string') return said;
    // Damage of what it changed does not hide that somebody changed it.
    return said + (await excerptOf(one, first['id']).catch(() => ''));
  };
};

/** A column of the table. On a narrow terminal some give way to what was done: `interventions show` has them. */
type Column = {
  readonly title: string;
  readonly width: number;
  /** True: shown where there is room. `in one`: in a narrow table only if that is of one history. */
  readonly isWide?: true | 'in one';
  readonly cell: (one: Intervention) => string | Promise<string>;
};

const COLUMNS: readonly Column[] = [
  { title: 'FRAME', width: 6, cell: ({ seq }) => `@s${seq}` },
  {
    title: 'TIME',
    width: 20,
    isWide: 'in one',
    cell: ({ timestamp }) => `${timestamp.replace('T', ' ').slice(0, 19)}Z`,
  },
  { title: 'TYPE', width: 14, cell: nameOfIntervention },
  { title: 'ACTOR', width: 10, cell: ({ actor }) => actor },
  { title: 'BEFORE', width: 7, isWide: true, cell: (one) => one.snapshot_before ?? '' },
  { title: 'AFTER', width: 7, isWide: true, cell: (one) => one.snapshot_after },
];

/** The columns of a table of all histories begin with the name of the history. */
const historyColumn = (home: Home): Column => {
  const titles = new Map<string, Promise<string>>();
  return {
    title: 'HISTORY',
    width: 16,
    cell: ({ history }) => {
      const title = titles.get(history) ?? titleOf(home, history).catch(() => history);
      titles.set(history, title);
      return title;
    },
  };
};

/** What was done: the notes, the words and the number of later notes. */
const whatColumn = (home: Home): Column => {
  const wordsOf = openWords(home);
  return {
    title: 'WHAT',
    width: 0,
    cell: async (one) => {
      const what = [one.notes, await wordsOf(one)].filter((word) => word !== '').join(' · ');
      return one.annotations.length === 0 ? what : `${what}  (${one.annotations.length} notes since)`;
    },
  };
};

const printTable = async (
  output: Output,
  source: AsyncIterable<Intervention>,
  home: Home,
  ofAll: boolean,
): Promise<void> => {
  let lines = 0;
  const isNarrow = output.width < 100;
  const columns = [...(ofAll ? [historyColumn(home)] : []), ...COLUMNS, whatColumn(home)].filter(
    ({ isWide }) => !isNarrow || isWide === undefined || (isWide === 'in one' && !ofAll),
  );
  // What was done is shown rather than the whole of a long name.
  const fit = (text: string, { width }: Column): string =>
    oneLine(text, isNarrow && width > 0 ? Math.max(width, 10) : 400).padEnd(width);
  const write = (cells: readonly string[]): Promise<void> | void =>
    output.write(cutAt(cells.join('  '), Math.min(output.width, 500)).trimEnd() + '\n');
  for await (const one of source) {
    if (lines++ === 0) await write(columns.map(({ title, width }) => title.padEnd(width)));
    const cells: string[] = [];
    for (const column of columns) cells.push(fit(await column.cell(one), column));
    await write(cells);
  }
  if (lines === 0) output.say('no interventions');
  else if (lines === MAX_TABLE_ROWS)
    output.say(
      `the first ${MAX_TABLE_ROWS} interventions are shown: use --skip and --limit for others, -o for all`,
    );
};
