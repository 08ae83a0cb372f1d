import { QUESTIONS, type AnswerOf } from '@stemma/api';
import { answersOf } from '../answers.ts';
import type { TopCommand } from '../command.ts';
import { whole } from '../options.ts';
import { oneLine, table } from '../output.ts';
import { durationOf } from '../call-cells.ts';
import { titleOf } from '../titles.ts';

const { history, limit, from } = QUESTIONS.tools.query.shape;

export const tools: TopCommand = {
  name: 'tools',
  summary: 'list the tools that models were offered and called: calls, failures, time, and what changed',
  group: 'Ask why',
  place: 8,
  example: 'stemma tools mine',
  arguments: [['[history]', history.description ?? '']],
  options: [
    ['--limit <n>', limit.description ?? ''],
    ['--from <n>', from.description ?? ''],
  ],
  run: async ({ home: open, findBranch, output }, [name], options) => {
    const home = await open();
    const page = {
      from: whole(options, 'from', { least: 0 }),
      limit: whole(options, 'limit', { least: 1 }),
    };
    const of = name === undefined ? {} : { history: (await findBranch(name)).branchRef.branch };
    const found = await (await answersOf(home)).ask(QUESTIONS.tools, { ...of, ...page });
    const titles = new Map<string, string>();
    for (const one of name === undefined && !output.json ? historiesIn(found) : [])
      titles.set(one, `${oneLine(await titleOf(home, one), 40)} `);
    const label: Label = ({ history: of, label }) => `${titles.get(of) ?? ''}${label}`;
    await output.result(found, () => describe(found, label, output.width));
    return undefined;
  },
};

type Tools = AnswerOf<typeof QUESTIONS.tools>;
type Place = Tools['tools'][number]['changes'][number]['at'];
/** A position; where all histories are shown, behind the title of its own. */
type Label = (place: Place) => string;

const historiesIn = ({ tools: found }: Tools): ReadonlySet<string> =>
  new Set(
    found.flatMap(({ offered, called, changes }) =>
      [offered, called]
        .flatMap((ends) => (ends === null ? [] : [ends.first, ends.last]))
        .concat(changes.map(({ at }) => at))
        .map((place) => place.history),
    ),
  );

const HEAD = ['TOOL', 'CALLS', 'FAILED', 'TIME', 'OFFERED', 'CALLED', 'CHANGED'];

const describe = ({ tools: found, total, next }: Tools, label: Label, width: number): string => {
  if (total === 0) return 'no tools: no recorded call offered any, and no message calls one\n';
  const rows = found.map((tool) => [
    oneLine(tool.name, 60),
    String(tool.calls),
    String(tool.failed),
    tool.duration_ms === null ? '-' : durationOf(Math.round(tool.duration_ms)),
    endsOf(tool.offered, label),
    endsOf(tool.called, label),
    String(tool.changed),
  ]);
  const changes = found.flatMap(({ name, changes: all }) =>
    all.map(
      ({ at, path, before, after }) =>
        `${label(at)}  ${oneLine(name, 60)}: ${oneLine(path, 80)}: ${quoted(before)} → ${quoted(after)}\n`,
    ),
  );
  return [
    table(HEAD, rows, width),
    ...(changes.length === 0 ? [] : ['\n', ...changes]),
    ...(next === null ? [] : [`\n${total} tools: --from ${next} lists on\n`]),
  ].join('');
};

const quoted = (text: string | null): string => (text === null ? 'nothing' : oneLine(text, 100));

const endsOf = (ends: { readonly first: Place; readonly last: Place } | null, label: Label): string => {
  if (ends === null) return '-';
  const { first, last } = ends;
  if (first.history === last.history && first.label === last.label) return label(first);
  return `${label(first)}…${first.history === last.history ? last.label : label(last)}`;
};
