import { fail } from '@stemma/errors';
import type { Why, WhyMoment } from '@stemma/queries';
import type { CommandLine } from '../command.ts';
import { required } from '../options.ts';
import { printable } from '../output.ts';
import { happened, source } from '../story.ts';

export const why: CommandLine = {
  name: 'why',
  summary: 'tell the life of a node: how it came in, what happened to it, why it left, and who did it',
  arguments: [
    ['<history>', 'a history or lineage, by id or name'],
    ['<node>', "its id, '#a1' or a1"],
    ['[ref]', 'as seen from @t0 @t-1 @c12 @s57 @name:NAME; nothing for the working state'],
  ],
  options: [],
  run: async ({ line: find, output }, [name, node, ref]) => {
    const id = nodeId(required(node));
    const { home, line } = await find(name);
    const answer = await home.causes.why(await home.position(line, ref as string | undefined), id);
    await output.result(answer, () => story(answer));
    return undefined;
  },
};

/** An id as people write it, with or without `#`. @throws E_USAGE for none */
export const nodeId = (text: string): string => {
  const id = text.startsWith('#') ? text.slice(1) : text;
  if (id === '') throw fail('E_USAGE', "a node is named by its id: '#a1'");
  return id;
};

const story = (answer: Why): string => {
  const { node, position, present, snapshots, came, then, left } = answer;
  const shown =
    snapshots === null
      ? 'in no snapshot'
      : snapshots.first === snapshots.last
        ? `in the snapshot @c${snapshots.first}`
        : `in the snapshots @c${snapshots.first} … @c${snapshots.last}`;
  const state = present ? `is in the tree at ${position.label}` : `is not in the tree at ${position.label}`;
  const moments = left === null ? [came, ...then] : [came, ...then, left];
  return [
    `#${printable(node)} ${state}; ${shown}\n`,
    ...moments.map((moment) => paragraph(node, moment)),
  ].join('');
};

const paragraph = (id: string, moment: WhyMoment): string => {
  const { cycle, notes } = moment;
  const lines = [
    `\n  ${`c${cycle}`.padEnd(6)} ${happened(id, moment, moment)}\n`,
    `         ${source(moment)}\n`,
  ];
  if (notes !== null) for (const line of notes.split('\n')) lines.push(`         │ ${printable(line)}\n`);
  return lines.join('');
};
