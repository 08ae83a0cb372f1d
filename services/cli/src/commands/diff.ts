import { restrictExplained, type ExplainedDiff, type ExplainedDiffEntry } from '@stemma/queries';
import type { CommandSpec } from '../command.ts';
import { describeEntry, describeSource } from '../describe-entry.ts';
import { required, text } from '../options.ts';
import { printable } from '../output.ts';

export const diff: CommandSpec = {
  name: 'diff',
  summary: 'list the nodes added, removed and changed from an older position to a newer one',
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
    ['--explain', 'the causes of each change in order, possible moves, and the byte ranges in both threads'],
  ],
  run: async ({ findBranch: find, output }, [name, older, newer], options) => {
    const { home, branchRef } = await find(name);
    const result = await home.diff(branchRef, required(older), required(newer), text(options, 'select'));
    if (options['explain'] === true) {
      const a = await home.position(branchRef, required(older));
      const b = await home.position(branchRef, required(newer));
      const explained = restrictExplained(await home.causes.explain(a, b), result);
      await output.result(explained, () => describe(explained));
      return undefined;
    }
    await output.result(result, () =>
      [
        ...result.added.map((id) => `+ ${printable(id)}\n`),
        ...result.removed.map((id) => `- ${printable(id)}\n`),
        ...result.changed.map(({ id, fields }) => `~ ${printable(id)}  ${fields.join(', ')}\n`),
      ].join(''),
    );
    return undefined;
  },
};

const describe = ({ a, b, mergeBase, entries, moves }: ExplainedDiff): string => {
  const mergeBaseText =
    mergeBase.branchId === a.branchId && mergeBase.seq === a.seq
      ? ''
      : `, merge base frame ${mergeBase.seq} of branch ${mergeBase.branchId}`;
  const pairs = moves.map(
    ({ from, to }) => `= ${printable(from)} and ${printable(to)} have equal content: possibly moved\n`,
  );
  return [`from ${a.label} to ${b.label}${mergeBaseText}\n`, ...entries.map(entryText), ...pairs].join('');
};

const SIGNS = { added: '+', removed: '-', changed: '~' } as const;

const entryText = ({ id, change, fields, causes, bytes }: ExplainedDiffEntry): string => {
  const what = fields.length === 0 ? '' : `  ${fields.join(', ')}`;
  const head = `${SIGNS[change]} ${printable(id)}${what}  [${byteRangeText(bytes.a)} → ${byteRangeText(bytes.b)}]\n`;
  const lines = causes.map((cause) => {
    const fieldsText = fields.length > 1 ? `${cause.fields.join(', ')}: ` : '';
    return `    ${cause.undone ? 'undone: ' : ''}${fieldsText}${describeEntry(id, cause)}\n      ${describeSource(cause)}\n`;
  });
  return head + lines.join('');
};

const byteRangeText = (range: ExplainedDiffEntry['bytes']['a']): string =>
  range === null ? 'not in the thread' : `${range.from}-${range.to}`;
