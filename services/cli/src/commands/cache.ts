import type { BreakCause, CacheReport, CacheStep, CacheTotal } from '@stemma/queries';
import type { TopCommand } from '../command.ts';
import { authorText, describeCause, eventText } from '../describe-cause.ts';
import { cutAt, oneLine, table } from '../output.ts';

export const cache: TopCommand = {
  name: 'cache',
  summary: 'show how much of each call a prefix cache could have served, and what broke the prefix',
  group: 'Ask why',
  place: 7,
  example: 'stemma cache mine',
  arguments: [['<history>', 'a history or branch, by id or name']],
  options: [['--all', 'every call (default: only the calls that do not continue the one before)']],
  run: async (context, [name], options) => {
    const { home, branchRef } = await context.findBranch(name);
    const report = await home.queries.questions.cache(branchRef);
    await context.output.result(report, () =>
      describe(report, options['all'] === true, context.output.width),
    );
    return undefined;
  },
};

const describe = (report: CacheReport, all: boolean, width: number): string => {
  const { calls, verdicts, bytes, tokens, tokenizer, steps, worst } = report;
  const shown = all ? steps : steps.filter(({ verdict }) => verdict !== 'append');
  const head = [
    `${calls} calls: ${verdicts.append} append, ${verdicts.rewind} rewind, ${verdicts.break} break\n`,
    `tokens  ${totalText(tokens)} (${tokenizer}, contents only)\n`,
    `bytes   ${totalText(bytes)}\n`,
  ].join('');
  const top = worst.slice(0, 3).map((i) => steps[i]?.to ?? '');
  return [
    head,
    ...(shown.length === 0 ? [] : ['\n', stepTable(shown, width)]),
    ...(top.length === 0 ? [] : [`worst: ${top.join(', ')}\n`]),
  ].join('');
};

const HEAD = ['call', 'verdict', 'messages', 'shared tokens', 'lost', 'first difference'];

/** One line a call, or, where a terminal is too narrow for that, two: the reason below. */
const stepTable = (steps: readonly CacheStep[], width: number): string => {
  const rows = steps.map(row);
  const lines = table(HEAD, rows).split('\n');
  if (lines.every((line) => line.length <= width)) return lines.join('\n');
  const [head = '', ...short] = table(
    HEAD.slice(0, -1),
    rows.map((cells) => cells.slice(0, -1)),
  ).split('\n');
  const reasons = rows.map((cells) => cells.at(-1) ?? '');
  const pairs = rows.flatMap((_, i) => [
    short[i] ?? '',
    ...(reasons[i] === '' ? [] : [`      ${reasons[i] ?? ''}`]),
  ]);
  return [head, ...pairs].map((line) => cutAt(line, width) + '\n').join('');
};

const totalText = ({ sent, shared }: CacheTotal): string =>
  `${sent} sent, ${shared} of them (${percent(shared, sent)}) could have been served from a prefix cache`;

const percent = (part: number, whole: number): string =>
  whole === 0 ? '0 %' : `${((100 * part) / whole).toFixed(1)} %`;

const row = ({ to, verdict, messages, tokens, broken }: CacheStep): string[] => [
  to,
  verdict,
  `${messages.shared}/${messages.after}`,
  `${tokens.shared}/${tokens.after} (${percent(tokens.shared, tokens.after)})`,
  String(tokens.before - tokens.shared),
  broken === null ? '' : describeBreak(broken),
];

const CHANGE_SUFFIX = { removed: '', changed: '', added: ' in front', moved: '' } as const;

const describeBreak = ({ node, what, cause, origin, entered }: BreakCause): string => {
  const how = cause === null ? what : describeCause(cause) + CHANGE_SUFFIX[what];
  // Nobody makes a message expire: the commit does, and who set its ttl comes after.
  const isAutomatic = cause?.kind === 'expiry' || cause?.kind === 'cascade' || cause?.kind === 'pruning';
  const who =
    origin === null
      ? ''
      : isAutomatic
        ? ` at ${eventText(origin)}`
        : ` by ${authorText(origin)} at ${eventText(origin)}`;
  const first = entered === null ? '' : `; inserted at ${eventText(entered)} by ${authorText(entered)}`;
  return `${oneLine(node, 32)} ${how}${who}${first}`;
};
