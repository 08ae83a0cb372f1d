import { damageSentences, readCheckpoint, verifySince } from '@stemma/operations';
import { keyForChecking, MAX_NOTES, withLog } from '../checkpoint/sources.ts';
import { fail } from '@stemma/errors';
import { inBundle, isBundle } from '../bundle/in-bundle.ts';
import type { Context, TopCommand } from '../command.ts';
import { readText, required, text } from '../options.ts';
import { printable } from '../output.ts';
import { withTitles } from '../titles.ts';

export const verify: TopCommand = {
  name: 'verify',
  summary: 'check every record and content, rows, and recorded calls; exit 5 if one is damaged',
  group: 'Check and mend',
  place: 2,
  example: 'stemma verify --rows',
  arguments: [['[bundle]', 'a file that stemma bundle wrote (default: the home)']],
  options: [
    [
      '--rows',
      'all rows, the newest snapshot of every history and every recorded call, not a sample of them',
    ],
    ['--since <checkpoint>', 'prove that the log only grew since this checkpoint (a file)'],
    ['--public-key <key>', 'with --since: the key that must have signed it, or a file with it'],
  ],
  reportsDamage: true,
  run: async (context, [bundle], options) => {
    if (bundle === undefined) return verifyHome(context, options);
    if (!isBundle(required(bundle)) || options['since'] !== undefined)
      throw fail('E_USAGE', 'verify takes the name of a bundle, FILE.stemma, and then no --since');
    return inBundle(context, required(bundle), (inside) => verifyHome(inside, { rows: true }));
  },
};

/** Checks a home, and says what is wrong with it. */
const verifyHome = async (context: Context, options: Readonly<Record<string, unknown>>): Promise<number> => {
  const { home: open, output, progress: display } = context;
  const since = await grownSince(context, options);
  const home = await open();
  const progress = display('bytes');
  const report = await home.operations.verify({
    rows: options['rows'] === true ? 'all' : 'sample',
    progress: progress.count,
  });
  progress.end();
  const shown = await withTitles(
    home,
    (since ?? [])
      .map(
        ({ partition, then, now }) =>
          `partition ${partition} begins with the ${then} frames of the checkpoint, and has ${now}\n`,
      )
      .join('') +
      report.problems
        .map(({ kind, history, seq, partition, offset, message }) => {
          const stops = kind === 'call' ? ', frame' : ' stops at seq';
          const place = history === null ? '' : `: history ${history}${stops} ${seq ?? '?'}`;
          const record = partition === null ? '' : ` (record ${partition}@${offset ?? '?'})`;
          return `${kind}${place}${record}: ${printable(message)}\n`;
        })
        .join('') +
      damageSentences({ closed: [], stopped: [], sealed: report.sealed })
        .map((sentence) => `${printable(sentence)}\n`)
        .join('') +
      callsSentence(report.calls, options['rows'] !== true) +
      `${report.records} records (${report.stale} stale), ${report.contents} contents, ${report.rows} rows: ` +
      `${report.ok ? 'no problems' : `${report.problems.length} problems`}\n`,
  );
  await output.result(since === undefined ? report : { ...report, since }, () => shown);
  return report.ok ? 0 : 5;
};

/** What was proven of the recorded calls; nothing if there is none. @param isSample true if others were not looked at */
export const callsSentence = (
  {
    checked,
    compared,
    notComparable,
  }: {
    readonly checked: number;
    readonly compared: number;
    readonly notComparable: Readonly<Record<string, number>>;
  },
  isSample = false,
): string =>
  checked === 0
    ? ''
    : `${compared} of ${checked} calls: the request says the messages of its thread${isSample ? ' (of a sample; --rows checks all)' : ''}\n` +
      Object.entries(notComparable)
        .map(([reason, count]) => `${count} not comparable: ${printable(reason)}\n`)
        .join('');

/** How the log grew since the checkpoint that was named. @throws E_LOG_TRUNCATED, E_LOG_ALTERED, E_CHECKPOINT_… */
const grownSince = async (
  context: Context,
  options: Readonly<Record<string, unknown>>,
): Promise<Awaited<ReturnType<typeof verifySince>> | undefined> => {
  const path = text(options, 'since');
  if (path === undefined) return undefined;
  const notes = await readText(context, path, MAX_NOTES);
  const heads = readCheckpoint(notes, await keyForChecking(context, options));
  return withLog(context, ({ log }) => verifySince(log, heads));
};
