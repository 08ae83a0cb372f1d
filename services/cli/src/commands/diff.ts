import { QUESTIONS, requestChangeAnswer } from '@stemma/api';
import { restrictExplained, type ExplainedDiff, type ExplainedDiffEntry } from '@stemma/queries';
import { defined } from '@stemma/values';
import { answersOf } from '../answers.ts';
import type { TopCommand } from '../command.ts';
import { describeEntry, describeSource } from '../describe-entry.ts';
import { openExcerpts, withExcerpt, type WordsOfNode } from '../excerpts.ts';
import { required, text } from '../options.ts';
import { printable } from '../output.ts';
import { requestChangeLines } from '../request-changes.ts';
import { filesText } from '../workspace/file-text.ts';

export const diff: TopCommand = {
  name: 'diff',
  summary: 'list the nodes added, removed and changed from an older position to a newer one',
  group: 'Ask why',
  place: 2,
  example: 'stemma diff mine @c6 @c7 --explain',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    ['<older>', 'the older position: @t-1 @c3 @s57 @name:NAME'],
    ['<newer>', 'the newer position: @t0 @c4 @s60 @name:NAME'],
  ],
  options: [
    [
      '--select <selector>',
      'a selector for the nodes to list, matched at either position: \'.cb[role="tool"]\' (default: all)',
    ],
    [
      '--files',
      'the files that differ between the calls made at the two positions, line by line, which `stemma record --workspace` recorded',
    ],
    ['--explain', 'the causes of each change in order, possible moves, and the byte ranges in both threads'],
  ],
  run: async ({ findBranch: find, output }, [name, older, newer], options) => {
    const { home, branchRef } = await find(name);
    if (options['files'] === true) {
      const asked = { history: branchRef.branch, a: required(older), b: required(newer) };
      const found = await (await answersOf(home)).ask(QUESTIONS.files, asked);
      await output.result(found, () => filesText(found));
      return undefined;
    }
    const a = await home.position(branchRef, required(older));
    const b = await home.position(branchRef, required(newer));
    const answers = await answersOf(home);
    const result = await answers.byName.diff({
      ...{ history: branchRef.branch, a: required(older), b: required(newer) },
      ...defined({ selector: text(options, 'select') }),
    });
    const ids = [...result.added, ...result.removed, ...result.changed.map(({ id }) => id)];
    const excerpt: WordsOfNode = output.json
      ? () => undefined
      : openExcerpts(await home.read.partialView(b, ids), await home.read.partialView(a, ids));
    // The document of a plain diff has three keys, and nothing of the requests.
    const isRead = options['explain'] === true || !output.json;
    const request = (isRead ? await home.calls.changes(a, b) : undefined) ?? null;
    const requestLines = (request === null ? [] : requestChangeLines(request)).map((each) => `${each}\n`);
    const inAnswer = { request: request?.map(requestChangeAnswer) ?? null };
    if (options['explain'] === true) {
      const explained = restrictExplained(await home.queries.causes.explain(a, b), result);
      await output.result({ ...explained, ...inAnswer }, () =>
        [describe(explained, excerpt, output.width), ...requestLines].join(''),
      );
      return undefined;
    }
    const line = (sign: string, id: string, more = ''): string =>
      `${withExcerpt(`${sign} ${printable(id)}${more}`, id, excerpt, output.width)}\n`;
    await output.result(result, () =>
      [
        ...result.added.map((id) => line('+', id)),
        ...result.removed.map((id) => line('-', id)),
        ...result.changed.map(({ id, fields }) => line('~', id, `  (${fields.join(', ')})`)),
        ...requestLines,
      ].join(''),
    );
    return undefined;
  },
};

const describe = (
  { a, b, mergeBase, entries, moves }: ExplainedDiff,
  excerpt: WordsOfNode,
  width: number,
): string => {
  const mergeBaseText =
    mergeBase.branchId === a.branchId && mergeBase.seq === a.seq
      ? ''
      : `, merge base frame ${mergeBase.seq} of branch ${mergeBase.branchId}`;
  const pairs = moves.map(
    ({ from, to }) => `= ${printable(from)} and ${printable(to)} have equal content: possibly moved\n`,
  );
  return [
    `from ${a.label} to ${b.label}${mergeBaseText}\n`,
    ...entries.map((entry) => entryText(entry, excerpt, width)),
    ...pairs,
  ].join('');
};

const SIGNS = { added: '+', removed: '-', changed: '~' } as const;

const entryText = (
  { id, change, fields, causes, bytes }: ExplainedDiffEntry,
  excerpt: WordsOfNode,
  width: number,
): string => {
  const what = fields.length === 0 ? '' : `  (${fields.join(', ')})`;
  const head = `${withExcerpt(`${SIGNS[change]} ${printable(id)}${what}`, id, excerpt, width)}\n`;
  const lines = causes.map((cause) => {
    const fieldsText = fields.length > 1 ? `${cause.fields.join(', ')}: ` : '';
    return `    ${cause.undone ? 'undone: ' : ''}${fieldsText}${describeEntry(id, cause)}\n      ${describeSource(cause)}\n`;
  });
  return `${head}${lines.join('')}    bytes: ${byteRangeText(bytes.a)} → ${byteRangeText(bytes.b)}\n`;
};

const byteRangeText = (range: ExplainedDiffEntry['bytes']['a']): string =>
  range === null ? 'not in the thread' : `${range.from}-${range.to}`;
