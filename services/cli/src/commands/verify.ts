import type { CommandSpec } from '../command.ts';
import { printable } from '../output.ts';

export const verify: CommandSpec = {
  name: 'verify',
  summary: 'check every record and every content; exit 5 if one is damaged',
  arguments: [],
  options: [],
  reportsDamage: true,
  run: async ({ home: open, output, progress: display }) => {
    const home = await open();
    const progress = display('bytes');
    const report = await home.verify(progress.count);
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
        `${report.records} records (${report.stale} stale), ${report.contents} contents: ` +
        `${report.ok ? 'no problems' : `${report.problems.length} problems`}\n`,
    );
    return report.ok ? 0 : 5;
  },
};
