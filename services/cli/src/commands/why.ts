import { QUESTIONS, requestChangeAnswer } from '@stemma/api';
import { fail } from '@stemma/errors';
import type { NodeTimelineEntry, Why } from '@stemma/queries';
import type { BranchRef, Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { answersOf } from '../answers.ts';
import type { TopCommand } from '../command.ts';
import { describeEntry, describeSource } from '../describe-entry.ts';
import { openExcerpts } from '../excerpts.ts';
import { text } from '../options.ts';
import { printable } from '../output.ts';
import { splitReferences } from '../references.ts';
import { requestChangeLines } from '../request-changes.ts';
import { fileText } from '../workspace/file-text.ts';

export const why: TopCommand = {
  name: 'why',
  summary: 'show the life of a node, or of a file: its insertion, changes and removal, with cause and author',
  group: 'Ask why',
  place: 4,
  example: 'stemma why mine m3',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    [
      '[refs...]',
      "the node, by id (a1 or '#a1'), and the position that it is asked about: @t-1 @c12 @name:NAME (default: the working state)",
    ],
  ],
  options: [
    [
      '--file <path>',
      'show the life of a file instead, which `stemma record --workspace` recorded: each change, and the tool call that it is put down to',
    ],
  ],
  run: async ({ findBranch: find, output }, [name, given], options) => {
    const refs = (given ?? []) as readonly string[];
    const path = text(options, 'file');
    if (path !== undefined) {
      if (refs.length > 0) throw fail('E_USAGE', '--file takes no node and no position');
      const { home, branchRef } = await find(name);
      const found = await (await answersOf(home)).ask(QUESTIONS.file, { history: branchRef.branch, path });
      await output.result(found, () => fileText(found));
      return undefined;
    }
    const { ref, node } = splitReferences(refs, 'why');
    if (node === undefined) throw fail('E_USAGE', "the node is missing: give its id, such as '#a1'");
    const { home, branchRef } = await find(name);
    const position = await home.position(branchRef, ref);
    const answer = await home.queries.causes.why(position, node);
    const words = output.json ? undefined : await wordsOf(home, position, branchRef, answer);
    const { first, gone } = answer.request;
    const request = {
      first: first?.map(requestChangeAnswer) ?? null,
      gone: gone?.map(requestChangeAnswer) ?? null,
    };
    await output.result({ ...answer, request }, () => describeWhy(answer, words));
    return undefined;
  },
};

/** How the node begins, where it is now or in the last snapshot that showed it. */
const wordsOf = async (
  home: Home,
  position: Position,
  branchRef: BranchRef,
  { node, present, snapshots }: Why,
): Promise<string | undefined> => {
  const shown = snapshots === null ? undefined : `@c${snapshots.last}`;
  if (!present && shown === undefined) return undefined;
  const at = present ? position : await home.position(branchRef, shown);
  return openExcerpts(await home.read.partialView(at, [node]))(node, 100);
};

const describeWhy = (answer: Why, words: string | undefined): string => {
  const { node, position, present, snapshots, added, changes, removed, request } = answer;
  const shown =
    snapshots === null
      ? 'in no snapshot'
      : snapshots.first === snapshots.last
        ? `in the snapshot @c${snapshots.first}`
        : `in the snapshots @c${snapshots.first} … @c${snapshots.last}`;
  const state = present ? `is in the tree at ${position.label}` : `is not in the tree at ${position.label}`;
  const entries = removed === null ? [added, ...changes] : [added, ...changes, removed];
  return [
    ...(words === undefined ? [] : [`${words}\n`]),
    `#${printable(node)} ${state}; ${shown}\n`,
    ...entries.map((entry) => describeTimelineEntry(node, entry)),
    ...requestLines('the first call that showed it', request.first),
    ...requestLines('the first call that showed it no more', request.gone),
  ].join('');
};

/** Tools and parameters that changed with a call: a node may be answered, or be gone, for these. */
const requestLines = (which: string, changes: Why['request']['first']): readonly string[] =>
  changes === null || changes.length === 0
    ? []
    : [
        `\n  ${which} differs from the one before in\n`,
        ...requestChangeLines(changes).map((line) => `    ${line}\n`),
      ];

const describeTimelineEntry = (id: string, entry: NodeTimelineEntry): string => {
  const { cycle, notes, redacted = [] } = entry;
  const lines = [
    `\n  ${`c${cycle}`.padEnd(6)} ${describeEntry(id, entry, entry)}\n`,
    `         ${describeSource(entry)}\n`,
  ];
  for (const { rule, field, count } of redacted)
    lines.push(
      `         redacted before it was recorded: ${count} × ${printable(rule)} in ${printable(field)}\n`,
    );
  if (notes !== null) for (const line of notes.split('\n')) lines.push(`         │ ${printable(line)}\n`);
  return lines.join('');
};
