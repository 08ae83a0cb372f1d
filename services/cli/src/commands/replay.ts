import type { CommandLine } from '../command.ts';

export const replay: CommandLine = {
  name: 'replay',
  summary: 'build all rows again from the log; with --verify in a scratch store, comparing every row',
  arguments: [],
  options: [['--verify', 'change nothing: compare, and exit 5 when a row differs']],
  run: async ({ home: open, output, progress: display }, _args, options) => {
    const home = await open();
    const progress = display('frames');
    const report = await home.replay({ verify: options['verify'] === true, progress: progress.count });
    progress.end();
    await output.result(
      report,
      () =>
        `${report.events} events in ${report.accepted} frames (${report.fenced} fenced), ${report.rows} rows, ` +
        `${report.differences} differences, ${report.seconds} s\n` +
        (report.firstDifference === null ? '' : `first difference: ${report.firstDifference}\n`),
    );
    return report.differences === 0 ? 0 : 5;
  },
};
