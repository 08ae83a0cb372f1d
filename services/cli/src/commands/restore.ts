import { fail } from '@stemma/errors';
import { openHome } from '@stemma/home';
import { restoreBackup } from '@stemma/operations';
import { resolve } from 'node:path';
import type { TopCommand } from '../command.ts';
import { required, text } from '../options.ts';
import { printable } from '../output.ts';

export const restore: TopCommand = {
  name: 'restore',
  summary: 'make a home of a backup: verify it, write log and contents, build the rows',
  group: 'Export, back up, erase',
  place: 3,
  example: 'stemma restore ../backup --to ./restored',
  arguments: [['<backup>', 'a directory or a .tar file that stemma backup wrote']],
  options: [['--to <directory>', 'the home to make: a directory that is empty or not there']],
  run: async ({ output, signal, progress: display }, [from], options) => {
    const to = text(options, 'to');
    if (to === undefined) throw fail('E_USAGE', 'restore needs --to DIRECTORY');
    const progress = display('bytes');
    const restored = await restoreBackup({
      from: resolve(required(from)),
      to,
      signal,
      progress: progress.count,
    });
    progress.end();
    const home = await openHome({ directory: restored.to });
    const histories = await home.read.histories().finally(() => home.close());
    const report = { ...restored, histories: histories.length };
    await output.result(
      report,
      () =>
        report.problems
          .map(({ message }) => `the log was damaged when it was backed up: ${printable(message)}\n`)
          .join('') +
        `${printable(report.to)}:\n  ${report.histories} histories in ${report.records} records and ${report.contents} contents, ` +
        `as of ${report.began}\n` +
        `it is the log ${report.log}: write no more to another home with this id, or the two differ\n` +
        report.missing
          .map(
            (file) =>
              `put back ${printable(file)} from a copy of the home: keys and rules are in no backup\n`,
          )
          .join(''),
    );
    return report.problems.length === 0 ? 0 : 5;
  },
};
