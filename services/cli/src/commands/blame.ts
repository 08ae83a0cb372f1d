import { parseWideJson } from '@stemma/canonical';
import { parseByteRange, type Blame, type BlamePart, type Origin } from '@stemma/queries';
import type { TopCommand } from '../command.ts';
import { text } from '../options.ts';
import { cutAt, oneLine, table } from '../output.ts';
import { time } from '../time.ts';

export const blame: TopCommand = {
  name: 'blame',
  summary: 'show who wrote each byte that the model was shown, and when',
  group: 'Ask why',
  place: 6,
  example: 'stemma blame mine @c7',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    ['[ref]', 'a position: @t0 @t-1 @c12 @s57 @name:NAME (default: the working state)'],
  ],
  options: [
    [
      '--bytes <range>',
      'a range of bytes of the thread, part by part: 120-480 (480 excluded), 120- (default: the whole thread)',
    ],
  ],
  run: async (context, [name, ref], options) => {
    const asked = text(options, 'bytes');
    const range = asked === undefined ? undefined : parseByteRange(asked);
    const { home, branchRef } = await context.findBranch(name);
    const answer = await home.queries.questions.blame(
      await home.position(branchRef, ref as string | undefined),
      range,
    );
    const { width } = context.output;
    await context.output.result(answer, () => describe(answer, range !== undefined, width));
    return undefined;
  },
};

const describe = (answer: Blame, byPart: boolean, width: number): string => {
  const { position, bytes, from, to, parts, origins } = answer;
  const shown = byPart ? parts : parts.filter(({ part }) => part === 'content');
  // Of a narrow terminal the time would take what the text needs; --json has it.
  const narrow = width < NARROW;
  const rows = shown.map((part) =>
    row(part, part.origin === null ? undefined : origins[part.origin], byPart, narrow),
  );
  const keys = new Map(parts.flatMap(({ part, node, origin }) => (part === 'id' ? [[node, origin]] : [])));
  const entered = ({ node }: BlamePart): Origin | undefined => origins[keys.get(node) ?? -1];
  if (!byPart)
    shown.forEach((part, i) => {
      const first = entered(part);
      const own = part.origin === null ? undefined : origins[part.origin];
      const row = rows[i];
      if (row !== undefined && first !== undefined && first !== own)
        row[row.length - 1] = `(inserted ${eventText(first)}) ${row.at(-1) ?? ''}`;
    });
  const head = [
    'event',
    ...(narrow ? [] : ['when']),
    'by',
    'cycle',
    ...(byPart ? ['part'] : []),
    'node',
    'bytes',
    'text',
  ];
  const what = from === 0 && to === bytes ? `${bytes} bytes` : `bytes ${from} to ${to} of ${bytes}`;
  const lines = table(head, rows).split('\n');
  const note = byPart ? '' : ', one line a message; --bytes shows every part';
  return `${position.label}: ${what}${note}\n` + lines.map((line) => cutAt(line, width)).join('\n');
};

const NARROW = 120;

const row = (part: BlamePart, origin: Origin | undefined, byPart: boolean, narrow: boolean): string[] => [
  origin === undefined
    ? ''
    : `${eventText(origin)} ${narrow ? origin.event.replace('Node', '') : origin.event}`,
  ...(narrow ? [] : [origin === undefined ? '' : time(origin.at)]),
  origin === undefined ? '(the list)' : authorText(origin),
  origin === undefined ? '' : `c${origin.cycle}`,
  ...(byPart ? [part.part] : []),
  part.node === null ? '' : oneLine(part.node, 24),
  `${part.from}-${part.to}`,
  oneLine(byPart ? part.text : readable(part.text), 60),
];

/** A content as people read it: a text as it is, anything else as JSON. */
const readable = (json: string): string => {
  const content = parseWideJson(json, 'the content');
  return typeof content === 'string' ? content : json;
};

const eventText = ({ seq, index }: Origin): string => `${seq}.${index}`;

const authorText = ({ author }: Origin): string =>
  'recorder' in author ? oneLine(author.recorder, 20) : `${oneLine(author.actor, 20)} (actor)`;
