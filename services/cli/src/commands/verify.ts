import type { CommandSpec } from '../command.ts';
import { printable } from '../output.ts';

export const verify: CommandSpec = {
  name: 'verify',
  summary: 'check every record, every content, and rows; exit 5 if one is damaged',
  arguments: [],
  options: [['--rows', 'all rows and the newest snapshot of every history, not a sample of them']],
  reportsDamage: true,
  run: async ({ home: open, output, progress: display }, _args, options) => {
    const home = await open();
    const progress = display('bytes');
    const report = await home.verify({
      rows: options['rows'] === true ? 'all' : 'sample',
      progress: progress.count,
    });
    progress.end();
    await output.result(
      report,
      () =>
        report.problems
          .map(({ kind, history, seq, partition, offset, message }) => {
            const place = history === null ? '' : `: history ${history} stops at seq ${seq ?? '?'}`;
            const record = partition === null ? '' : ` (record ${partition}@${offset ?? '?'})`;
            return `${kind}${place}${record}: ${printable(message)}\n`;
          })
          .join('') +
        `${report.records} records (${report.stale} stale), ${report.contents} contents, ${report.rows} rows: ` +
        `${report.ok ? 'no problems' : `${report.problems.length} problems`}\n`,
    );
    return report.ok ? 0 : 5;
  },
};
