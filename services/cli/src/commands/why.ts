import { fail } from '@stemma/errors';
import type { NodeTimelineEntry, Why } from '@stemma/queries';
import type { CommandSpec } from '../command.ts';
import { describeEntry, describeSource } from '../describe-entry.ts';
import { required } from '../options.ts';
import { printable } from '../output.ts';

export const why: CommandSpec = {
  name: 'why',
  summary: 'show the life of a node: its insertion, changes and removal, with cause and author',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    ['<node>', "the node, by id: '#a1' or a1"],
    ['[ref]', 'a position: @t0 @t-1 @c12 @s57 @name:NAME (default: the working state)'],
  ],
  options: [],
  run: async ({ findBranch: find, output }, [name, node, ref]) => {
    const id = nodeId(required(node));
    const { home, branchRef } = await find(name);
    const answer = await home.causes.why(await home.position(branchRef, ref as string | undefined), id);
    await output.result(answer, () => describeWhy(answer));
    return undefined;
  },
};

/** An id as people write it, with or without `#`. @throws E_USAGE for none */
export const nodeId = (text: string): string => {
  const id = text.startsWith('#') ? text.slice(1) : text;
  if (id === '') throw fail('E_USAGE', "the node is empty: give its id, such as '#a1'");
  return id;
};

const describeWhy = (answer: Why): string => {
  const { node, position, present, snapshots, added, changes, removed } = answer;
  const shown =
    snapshots === null
      ? 'in no snapshot'
      : snapshots.first === snapshots.last
        ? `in the snapshot @c${snapshots.first}`
        : `in the snapshots @c${snapshots.first} … @c${snapshots.last}`;
  const state = present ? `is in the tree at ${position.label}` : `is not in the tree at ${position.label}`;
  const entries = removed === null ? [added, ...changes] : [added, ...changes, removed];
  return [
    `#${printable(node)} ${state}; ${shown}\n`,
    ...entries.map((entry) => describeTimelineEntry(node, entry)),
  ].join('');
};

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
