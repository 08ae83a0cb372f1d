import { openLogSource } from '@stemma/home';
import { backUp, type BackupReport } from '@stemma/operations';
import { resolve } from 'node:path';
import { addressesOf, type TopCommand } from '../command.ts';
import { required } from '../options.ts';
import { printable } from '../output.ts';

export const backup: TopCommand = {
  name: 'backup',
  summary: 'back up the log and its contents while others write; into a directory only what is new',
  group: 'Export, back up, erase',
  place: 2,
  example: 'stemma backup ../backup',
  arguments: [
    [
      '<target>',
      'a directory, which later backups add to, or a file that ends with .tar, which they replace',
    ],
  ],
  options: [],
  run: async ({ directory, env, output, signal, progress: display }, [target]) => {
    const source = await openLogSource({ directory, ...addressesOf(env) });
    try {
      const progress = display('bytes');
      const report = await backUp({
        log: source.log,
        contents: source.contents,
        inPlace: source.address.facts === null,
        to: resolve(required(target)),
        home: directory,
        signal,
        now: Date.now,
        progress: progress.count,
      });
      progress.end();
      await output.result(report, () => describe(report));
      return report.problems.length === 0 ? 0 : 5;
    } finally {
      await source.close();
    }
  },
};

const describe = ({ to, records, bytes, contents, added, problems }: BackupReport): string =>
  problems.map(({ message }) => `the log is damaged: ${printable(message)}\n`).join('') +
  `${printable(to)}:\n  ${records} records (${bytes} bytes) and ${contents} contents, all verified; ` +
  `new: ${added.bytes} bytes, ${added.contents} contents\n` +
  (problems.length === 0
    ? ''
    : `${problems.length} problems of the log are in the backup too: what is not damaged can be restored\n`);
