import type { AnswerOf, QUESTIONS } from '@stemma/api';
import { printable } from '../output.ts';
import { time } from '../time.ts';

type FileLife = AnswerOf<typeof QUESTIONS.file>;
type FoundChange = FileLife['runs'][number]['changes'][number];
type Files = AnswerOf<typeof QUESTIONS.files>;
type State = FoundChange['after'];

/** The life of a file in each run, for people. */
export const fileText = ({ path, runs }: FileLife): string =>
  runs
    .map(({ run, startedAt, start, changes }) =>
      [
        `${printable(path)} in the run ${printable(run)}, which started ${time(startedAt)}`,
        `  at the start      ${start === null ? 'not there' : stateText(start)}`,
        ...changes.flatMap((change) => [
          `  ${betweenText(change).padEnd(16)}  ${changeText(change)}`,
          `                    ${causeText(change)}`,
        ]),
        ...(changes.length === 0 ? ['  no call changed it'] : []),
      ]
        .map((line) => `${line}\n`)
        .join(''),
    )
    .join('\n');

const changeText = ({ change, before, after }: FoundChange): string =>
  before !== null && after !== null
    ? `${change}: ${stateText(before)} → ${stateText(after)}`
    : `${change}: ${stateText(after ?? before)}`;

const HASH = 10;

const stateText = (state: State): string => {
  if (state === null) return 'nothing';
  const { sha256, size, mode } = state;
  const kind = mode === '120000' ? ', a link' : mode === '100755' ? ', can be run' : '';
  return `${size} bytes (${sha256 === null ? 'nobody read them' : sha256.slice(0, HASH)}${kind})`;
};

const betweenText = ({ from, until }: Pick<FoundChange, 'from' | 'until'>): string =>
  from === null
    ? `before ${until?.label ?? 'the end'}`
    : until === null
      ? `after ${from.label}`
      : `${from.label} … ${until.label}`;

/** What a change is put down to, and how that was guessed. */
const causeText = ({
  why,
  tool,
  toolCall,
  call,
  of,
}: Omit<FoundChange, 'change' | 'before' | 'after'>): string => {
  if (why === 'none')
    return of === 0
      ? 'put down to no tool call: no answer had one'
      : `put down to no tool call: ${of} could have made it, and none names the file`;
  const id = toolCall === null ? '' : ` (${printable(toolCall)})`;
  const who = `${printable(tool ?? '?')}${id}, which ${call?.label ?? '?'} asked for`;
  if (why === 'only') return `probably by ${who}: no other tool call could have made it`;
  return of === 1
    ? `probably by ${who}: its arguments name the file`
    : `probably by ${who}: the last of ${of} whose arguments name the file`;
};

const NOT_SHOWN = {
  large: 'its bytes are not kept, as they are too many',
  full: 'its bytes are not kept, as others had taken the room',
  binary: 'it is no text',
  secret: 'its bytes are not kept, as there are secrets in it',
  unread: 'nobody could read it',
  link: 'it is a link',
  many: 'too many lines differ',
} as const;

const SIGNS = { added: '+', removed: '-', changed: '~', renamed: '=' } as const;

/** The files that differ between two calls, for people. */
export const filesText = ({ a, b, total, files }: Files): string => {
  const runs =
    a.run === b.run
      ? `of the run ${printable(a.run)}`
      : `of the runs ${printable(a.run)} and ${printable(b.run)}`;
  if (total === 0) return `no file differs between ${a.label} and ${b.label} ${runs}\n`;
  const listed = files.flatMap(({ path, from, change, before, after, lines, notShown, changes }) => [
    `${SIGNS[change]} ${from === null ? '' : `${printable(from)} → `}${printable(path)}  ${change}${sizesText(before, after)}`,
    ...changes.map((each) => `    ${betweenText(each)}: ${causeText(each)}`),
    ...(notShown === null ? [] : [`    lines are not shown: ${NOT_SHOWN[notShown]}`]),
    ...(lines ?? []).flatMap((hunk) => [
      `    @@ ${hunk.a}, ${hunk.b} @@`,
      ...hunk.lines.map((line) => `    ${printable(line)}`),
    ]),
  ]);
  const more = total > files.length ? [`and ${total - files.length} other files`] : [];
  return [`from ${a.label} to ${b.label} ${runs}`, ...listed, ...more].map((line) => `${line}\n`).join('');
};

const sizesText = (before: State, after: State): string =>
  before !== null && after !== null && before.size !== after.size
    ? `, ${before.size} → ${after.size} bytes`
    : `, ${(after ?? before)?.size ?? 0} bytes`;
