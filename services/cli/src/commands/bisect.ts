import { fail } from '@stemma/errors';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { BisectAnswer, ExplainedChange } from '@stemma/queries';
import type { TopCommand } from '../command.ts';
import { authorText, describeCause, eventText } from '../describe-cause.ts';
import { openExcerpts, withExcerpt, type WordsOfNode } from '../excerpts.ts';
import { text } from '../options.ts';
import { oneLine } from '../output.ts';

const MAX_CHANGES = 40;
const MAX_MATCHED = 5;

export const bisect: TopCommand = {
  name: 'bisect',
  summary: 'find the first snapshot between a good and a bad one where a selector matches',
  group: 'Ask why',
  place: 9,
  example: "stemma bisect mine --good @c1 --bad @c12 --when '#m9'",
  arguments: [['<history>', 'a history or branch, by id or name']],
  options: [
    ['--good <ref>', 'a snapshot where the selector does not match: @c3, BRANCH@c3'],
    ['--bad <ref>', 'a snapshot where it matches; may be older, or of another branch'],
    ['--when <selector>', 'the selector that matches something in bad snapshots'],
    ['--when-not <selector>', 'the selector that matches nothing in bad snapshots'],
  ],
  run: async (context, [name], options) => {
    const [good, bad] = [text(options, 'good'), text(options, 'bad')];
    const [when, unless] = [text(options, 'when'), text(options, 'whenNot')];
    const selector = when ?? unless;
    if (
      good === undefined ||
      bad === undefined ||
      selector === undefined ||
      (when !== undefined && unless !== undefined)
    )
      throw fail('E_USAGE', 'bisect needs --good, --bad, and either --when or --when-not');
    const { home, branchRef } = await context.findBranch(name);
    const answer = await home.queries.questions.bisect(branchRef, {
      good,
      bad,
      when: selector,
      not: when === undefined,
    });
    const excerpt = context.output.json ? () => undefined : await excerptsOf(home, branchRef, answer);
    await context.output.result(answer, () =>
      describe(answer, when === undefined, excerpt, context.output.width),
    );
    return undefined;
  },
};

/** The words of nodes at the two snapshots between which it changed. */
const excerptsOf = async (
  home: Home,
  { history }: BranchRef,
  { first, before, matched, matchedBefore, changes }: BisectAnswer,
): Promise<WordsOfNode> => {
  const shown = [...changes.slice(0, MAX_CHANGES).map(({ id }) => id), ...matched.slice(0, MAX_MATCHED)];
  const ids = [...shown, ...matchedBefore.slice(0, MAX_MATCHED)];
  const views = await Promise.all(
    [first, before].map(async ({ branchId, label }) =>
      home.read.partialView(await home.position(branchRefOf(history, branchId), label), ids),
    ),
  );
  return openExcerpts(...views);
};

const describe = (answer: BisectAnswer, not: boolean, excerpt: WordsOfNode, width: number): string => {
  const { first, before, way, matched, matchedBefore, changes, snapshots, loads } = answer;
  const ids = not ? matchedBefore : matched;
  const [older, newer] = way === 'on' ? [before, first] : [first, before];
  const lines = [
    `${positionText(first)} is the first bad snapshot; ${positionText(before)}, the one before it, is good`,
    `  ${not ? 'it no longer matches:' : 'it matches:'}`,
    ...ids.slice(0, MAX_MATCHED).map((id) => withExcerpt(`    ${oneLine(id, 40)}`, id, excerpt, width)),
    ...(ids.length > MAX_MATCHED ? [`    and ${ids.length - MAX_MATCHED} more`] : []),
    `  read ${loads} of ${snapshots} snapshots`,
    `differences from ${older.label} to ${newer.label}:`,
    ...changes.slice(0, MAX_CHANGES).map((change) => changeLine(change, excerpt, width)),
    ...(changes.length > MAX_CHANGES ? [`  and ${changes.length - MAX_CHANGES} more (--json has all)`] : []),
  ];
  return lines.map((line) => line + '\n').join('');
};

const positionText = ({ label, branchId }: BisectAnswer['first']): string =>
  branchId === 0 ? label : `${label} of branch ${branchId}`;

const SIGNS = { added: '+', removed: '-', changed: '~' } as const;

const changeLine = (
  { id, change, fields, causes }: ExplainedChange,
  excerpt: WordsOfNode,
  width: number,
): string => {
  const why = causes
    .map(
      ({ cause, undone, origin }) =>
        `${undone ? 'undone: ' : ''}${describeCause(cause)} at ${eventText(origin)} by ${authorText(origin)}`,
    )
    .join('; ');
  const which = fields.length === 0 ? '' : `  (${fields.join(', ')})`;
  const head = withExcerpt(`  ${SIGNS[change]} ${oneLine(id, 40)}${which}`, id, excerpt, width);
  return why === '' ? head : `${head}\n      ${why}`;
};
