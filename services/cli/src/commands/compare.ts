import type { ComparedFrame, Comparison } from '@stemma/queries';
import { comparisonPage } from '@stemma/reports';
import { writeFile } from 'node:fs/promises';
import type { CommandSpec } from '../command.ts';
import { required, text, whole } from '../options.ts';
import { oneLine, printable, table } from '../output.ts';
import { time } from '../time.ts';

/** So many interventions of a side are listed; the rest is counted. */
const MAX_INTERVENTIONS = 20;

export const compare: CommandSpec = {
  name: 'compare',
  summary:
    'compare two branches or positions of a history: the merge base, who forked, the changes of each side',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    ['<a>', 'a branch by name or number, or a position: @c3, BRANCH@c3, @name:NAME'],
    ['<b>', 'the other branch or position'],
  ],
  options: [
    ['--html <file>', 'a file for the comparison as a self-contained page'],
    ['--excerpt <characters>', 'the length of each excerpt (default: 2000)'],
  ],
  run: async ({ findBranch: find, output }, [name, a, b], options) => {
    const excerpt = whole(options, 'excerpt', { least: 0 });
    const file = text(options, 'html');
    const { home, branchRef } = await find(name);
    const comparison = await home.audit.compare(branchRef, required(a), required(b), {
      ...(excerpt === undefined ? {} : { excerpt }),
    });
    if (file !== undefined) {
      const page = comparisonPage(comparison, `${required(name)}: ${required(a)} and ${required(b)}`);
      await writeFile(file, page, { mode: 0o600 });
      output.say(`wrote ${file}`);
    }
    await output.result(comparison, () => describe(comparison, output.width));
    return undefined;
  },
};

const describe = (comparison: Comparison, width: number): string =>
  describeRelation(comparison) +
  countTable(comparison) +
  describeSide('A', comparison.a, width) +
  describeSide('B', comparison.b, width);

const describeRelation = ({ relation, mergeBase, divergedBy }: Comparison): string => {
  const at = `${mergeBase.position.label} of branch ${mergeBase.position.branchId}`;
  if (relation === 'same') return `the same position: ${at}\n`;
  if (relation === 'a-before-b') return `B continues from A: ${at}\n`;
  if (relation === 'b-before-a') return `A continues from B: ${at}\n`;
  const how =
    divergedBy === null
      ? ''
      : `; ${divergedBy.side.toUpperCase()} diverged by a ${divergedBy.how} in @s${divergedBy.seq}, ${authorAndTime(divergedBy)}${notesText(divergedBy)}`;
  return `the same up to ${at}${how}\n`;
};

const notesText = ({ intervention }: ComparedFrame): string =>
  intervention === null || intervention.notes === '' ? '' : `: ${oneLine(intervention.notes, 300)}`;

const authorAndTime = ({ author, at }: ComparedFrame): string =>
  printable('actor' in author ? author.actor : author.recorder) + ', ' + time(at);

/** The interventions of a side, each on a line with its notes; the side's own nodes come below. */
const interventionLines = ({ interventionFrames, interventions }: Comparison['a'], width: number): string => {
  const lines = interventionFrames.slice(0, MAX_INTERVENTIONS).map((frame) => {
    const { type = 'intervention', notes = '' } = frame.intervention ?? {};
    const line = `! @s${frame.seq}  ${type}  ${authorAndTime(frame)}${notes === '' ? '' : `: ${notes}`}`;
    return oneLine(line, Math.min(width, 160)) + '\n';
  });
  const more = interventions - lines.length;
  return lines.join('') + (more > 0 ? `! and ${more} more interventions\n` : '');
};

const countTable = ({ mergeBase, a, b }: Comparison): string => {
  const row = (
    title: string,
    of: (side: Comparison['a']) => number,
    atMergeBase: number | null,
  ): string[] => [title, atMergeBase === null ? '' : String(atMergeBase), String(of(a)), String(of(b))];
  return table(
    ['', 'MERGE BASE', 'A', 'B'],
    [
      ['position', mergeBase.position.label, a.position.label, b.position.label],
      ['branch', ...[mergeBase, a, b].map(({ position }) => String(position.branchId))],
      row('tokens', ({ tokens }) => tokens, mergeBase.tokens),
      row('blocks shown', ({ shown }) => shown, mergeBase.shown),
      row('nodes', ({ nodes }) => nodes, mergeBase.nodes),
      row('turns', ({ turns }) => turns, mergeBase.turns),
      row('frames since', ({ frames }) => frames, null),
      row('interventions', ({ interventions }) => interventions, null),
      row('added', ({ added }) => added.length, null),
      row('removed', ({ removed }) => removed.length, null),
      row('changed', ({ changed }) => changed.length, null),
    ],
  );
};

const describeSide = (title: string, side: Comparison['a'], width: number): string => {
  const { added, removed, changed } = side;
  const interventionText = interventionLines(side, width);
  const line = (
    sign: string,
    { id, role, excerpt }: Comparison['a']['added'][number],
    more: string,
  ): string =>
    oneLine(
      `${sign} ${id}  ${[role, more, excerpt].filter((word) => word !== null && word !== '').join('  ')}`,
      Math.min(width, 160),
    ) + '\n';
  const lines = [
    ...added.map((node) => line('+', node, '')),
    ...removed.map((node) => line('-', node, '')),
    ...changed.map((node) => line('~', node, node.fields.join(', '))),
  ];
  return interventionText === '' && lines.length === 0
    ? ''
    : `${title} since the merge base:\n${interventionText}${lines.join('')}`;
};
