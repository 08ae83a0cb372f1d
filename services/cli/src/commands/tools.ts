import { QUESTIONS, type AnswerOf } from '@stemma/api';
import { answersOf } from '../answers.ts';
import type { TopCommand } from '../command.ts';
import { whole } from '../options.ts';
import { oneLine, table } from '../output.ts';
import { durationOf } from '../call-cells.ts';

const { limit, from } = QUESTIONS.tools.query.shape;

export const tools: TopCommand = {
  name: 'tools',
  summary: 'list the tools that models were offered and called: calls, failures, time, and what changed',
  group: 'Ask why',
  place: 8,
  example: 'stemma tools mine',
  arguments: [['<history>', 'a history or branch, by id or name']],
  options: [
    ['--limit <n>', limit.description ?? ''],
    ['--from <n>', from.description ?? ''],
  ],
  run: async ({ findBranch, output }, [name], options) => {
    const { home, branchRef } = await findBranch(name);
    const page = {
      from: whole(options, 'from', { least: 0 }),
      limit: whole(options, 'limit', { least: 1 }),
    };
    const found = await (await answersOf(home)).ask(QUESTIONS.tools, { history: branchRef.branch, ...page });
    await output.result(found, () => describe(found, output.width));
    return undefined;
  },
};

type Tools = AnswerOf<typeof QUESTIONS.tools>;

const HEAD = ['TOOL', 'CALLS', 'FAILED', 'TIME', 'OFFERED', 'CALLED', 'CHANGED'];

const describe = ({ tools: found, total, next }: Tools, width: number): string => {
  if (total === 0) return 'no tools: no recorded call offered any, and no message calls one\n';
  const rows = found.map((tool) => [
    oneLine(tool.name, 60),
    String(tool.calls),
    String(tool.failed),
    tool.duration_ms === null ? '-' : durationOf(Math.round(tool.duration_ms)),
    endsOf(tool.offered),
    endsOf(tool.called),
    String(tool.changed),
  ]);
  const changes = found.flatMap(({ name, changes: all }) =>
    all.map(
      ({ at, path, before, after }) =>
        `${at.label}  ${oneLine(name, 60)}: ${oneLine(path, 80)}: ${quoted(before)} → ${quoted(after)}\n`,
    ),
  );
  return [
    table(HEAD, rows, width),
    ...(changes.length === 0 ? [] : ['\n', ...changes]),
    ...(next === null ? [] : [`\n${total} tools: --from ${next} lists on\n`]),
  ].join('');
};

const quoted = (text: string | null): string => (text === null ? 'nothing' : oneLine(text, 100));

const endsOf = (
  ends: { readonly first: { label: string }; readonly last: { label: string } } | null,
): string =>
  ends === null
    ? '-'
    : ends.first.label === ends.last.label
      ? ends.first.label
      : `${ends.first.label}…${ends.last.label}`;
