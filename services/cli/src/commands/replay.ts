import { fail } from '@stemma/errors';
import { defined } from '@stemma/values';
import type { CommandSpec, TopCommand } from '../command.ts';
import { text } from '../options.ts';
import { withSmallHeaps } from '../small-heaps.ts';
import { callsSentence } from './verify.ts';

export const replay: TopCommand = {
  name: 'replay',
  summary: 'rebuild all rows from the log; with --verify build them apart, and compare every row and call',
  group: 'Check and mend',
  place: 3,
  example: 'stemma replay --verify',
  arguments: [],
  options: [
    ['--verify', 'a comparison only; exit 5 if a row differs'],
    ['--batches <sizes>', 'with --verify: batch sizes in frames, with one replay for each, such as 1,7,1000'],
    ['--stops', 'with --verify: random stops, each followed by a restart with empty caches'],
  ],
  run: (context, args, options) => withSmallHeaps(() => runReplay(context, args, options)),
};

const runReplay: CommandSpec['run'] = async ({ home: open, output, progress: display }, _args, options) => {
  const verify = options['verify'] === true;
  const batches = text(options, 'batches')?.split(',').map(batchSize);
  const stops = options['stops'] === true;
  if (!verify && (batches !== undefined || stops))
    throw fail('E_USAGE', '--batches and --stops need --verify');
  const home = await open();
  const progress = display('frames');
  const report = await home.operations.replay({
    verify,
    stops,
    ...defined({ batches }),
    progress: progress.count,
  });
  progress.end();
  await output.result(
    report,
    () =>
      `${report.events} events in ${report.accepted} frames (${report.stale} stale), ${report.rows} rows, ` +
      `${report.differences} differences, ${report.seconds} s\n` +
      (report.calls === null ? '' : callsSentence(report.calls)) +
      (report.firstDifference === null ? '' : `first difference: ${report.firstDifference}\n`),
  );
  return report.differences === 0 ? 0 : 5;
};

const batchSize = (size: string): number => {
  const frames = Number(size);
  if (!/^\d{1,9}$/.test(size) || frames === 0)
    throw fail(
      'E_USAGE',
      `--batches must be numbers of frames such as 1,7,1000, not ${JSON.stringify(size)}`,
    );
  return frames;
};
