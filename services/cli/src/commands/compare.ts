import type { ActSummary, Comparison } from '@stemma/queries';
import { comparisonPage } from '@stemma/reports';
import { writeFile } from 'node:fs/promises';
import type { CommandLine } from '../command.ts';
import { required, text, whole } from '../options.ts';
import { oneLine, printable, table } from '../output.ts';
import { time } from '../time.ts';

/** So many interventions of a side are listed; the rest is counted. */
const MOST_ACTS = 20;

export const compare: CommandLine = {
  name: 'compare',
  summary:
    'put two lineages or positions of a history side by side: where they parted, by whom, what each did since',
  arguments: [
    ['<history>', 'a history or lineage, by id or name'],
    ['<a>', 'a lineage by name or number, or a position: @c3, LINEAGE@c3, @name:NAME'],
    ['<b>', 'the other'],
  ],
  options: [
    ['--html <file>', 'write a page of one file that can be sent to someone'],
    ['--excerpt <characters>', 'so much of each content (default: 2000)'],
  ],
  run: async ({ line: find, output }, [name, a, b], options) => {
    const excerpt = whole(options, 'excerpt', { least: 0 });
    const file = text(options, 'html');
    const { home, line } = await find(name);
    const comparison = await home.audit.compare(line, required(a), required(b), {
      ...(excerpt === undefined ? {} : { excerpt }),
    });
    if (file !== undefined) {
      await writeFile(
        file,
        comparisonPage(comparison, `${required(name)}: ${required(a)} and ${required(b)}`),
      );
      output.say(`wrote ${file}`);
    }
    await output.result(comparison, () => describe(comparison, output.width));
    return undefined;
  },
};

const describe = (comparison: Comparison, width: number): string =>
  parting(comparison) + numbers(comparison) + list('A', comparison.a, width) + list('B', comparison.b, width);

const parting = ({ relation, stem, partedBy }: Comparison): string => {
  const at = `${stem.position.label} of lineage ${stem.position.strand}`;
  if (relation === 'same') return `the same position: ${at}\n`;
  if (relation === 'a-before-b') return `B goes on where A stands: ${at}\n`;
  if (relation === 'b-before-a') return `A goes on where B stands: ${at}\n`;
  const how =
    partedBy === null
      ? ''
      : `; ${partedBy.side.toUpperCase()} left by a ${partedBy.how} in @s${partedBy.seq}, ${by(partedBy)}${noted(partedBy)}`;
  return `the same up to ${at}${how}\n`;
};

const noted = ({ intervention }: ActSummary): string =>
  intervention === null || intervention.notes === '' ? '' : `: ${oneLine(intervention.notes, 300)}`;

const by = ({ author, at }: ActSummary): string =>
  printable('actor' in author ? author.actor : author.recorder) + ', ' + time(at);

/** The acts of a side, each on a line with what was noted; the side's own nodes come below. */
const actsOf = ({ acts, interventions }: Comparison['a'], width: number): string => {
  const lines = acts.slice(0, MOST_ACTS).map((act) => {
    const { type = 'intervention', notes = '' } = act.intervention ?? {};
    const line = `! @s${act.seq}  ${type}  ${by(act)}${notes === '' ? '' : `: ${notes}`}`;
    return oneLine(line, Math.min(width, 160)) + '\n';
  });
  const more = interventions - lines.length;
  return lines.join('') + (more > 0 ? `! and ${more} more interventions\n` : '');
};

const numbers = ({ stem, a, b }: Comparison): string => {
  const row = (title: string, of: (side: Comparison['a']) => number, atStem: number | null): string[] => [
    title,
    atStem === null ? '' : String(atStem),
    String(of(a)),
    String(of(b)),
  ];
  return table(
    ['', 'STEM', 'A', 'B'],
    [
      ['position', stem.position.label, a.position.label, b.position.label],
      ['lineage', ...[stem, a, b].map(({ position }) => String(position.strand))],
      row('tokens', ({ tokens }) => tokens, stem.tokens),
      row('blocks shown', ({ shown }) => shown, stem.shown),
      row('nodes', ({ nodes }) => nodes, stem.nodes),
      row('turns', ({ turns }) => turns, stem.turns),
      row('frames since', ({ frames }) => frames, null),
      row('interventions', ({ interventions }) => interventions, null),
      row('added', ({ added }) => added.length, null),
      row('removed', ({ removed }) => removed.length, null),
      row('changed', ({ changed }) => changed.length, null),
    ],
  );
};

const list = (title: string, side: Comparison['a'], width: number): string => {
  const { added, removed, changed } = side;
  const acts = actsOf(side, width);
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
  return acts === '' && lines.length === 0 ? '' : `${title} since then:\n${acts}${lines.join('')}`;
};
