import type { BreakCause, CacheReport, CacheStep, CacheTotal } from '@stemma/queries';
import type { TopCommand } from '../command.ts';
import { authorText, describeCause, eventText } from '../describe-cause.ts';
import { requestChangesInShort } from '../request-changes.ts';
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
    ...disagreements(steps),
  ].join('');
};

/** Where the provider says otherwise than the messages: it caches from a size on, for a time, and may have cached more calls. */
const disagreements = (steps: readonly CacheStep[]): string[] => {
  const none = steps.filter(({ cached, tokens }) => cached === 0 && tokens.shared >= LEAST_CACHED);
  const more = steps.filter(({ cached, tokens }) => cached !== null && cached > tokens.shared + LEAST_CACHED);
  return [
    ...(none.length === 0
      ? []
      : [`the provider read nothing from its cache, though the prefix is the same: ${labels(none)}\n`]),
    ...(more.length === 0 ? [] : [`the provider read more from its cache than is shared: ${labels(more)}\n`]),
  ];
};

/** Providers cache no prefix that is shorter, in tokens. */
const LEAST_CACHED = 1_024;

const labels = (steps: readonly CacheStep[]): string =>
  `${steps
    .slice(0, 10)
    .map(({ to }) => to)
    .join(', ')}${steps.length > 10 ? `, and ${steps.length - 10} more` : ''}`;

const HEAD = ['call', 'verdict', 'messages', 'shared tokens', 'lost', 'cached', 'first difference'];

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

const row = ({ to, verdict, messages, tokens, broken, tools, cached }: CacheStep): string[] => [
  to,
  verdict,
  `${messages.shared}/${messages.after}`,
  `${tokens.shared}/${tokens.after} (${percent(tokens.shared, tokens.after)})`,
  String(tokens.before - tokens.shared),
  cached === null ? '-' : String(cached),
  tools.length > 0 ? requestChangesInShort(tools) : broken === null ? '' : describeBreak(broken),
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
