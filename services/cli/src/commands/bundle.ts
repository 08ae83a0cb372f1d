import { fail } from '@stemma/errors';
import { resolve } from 'node:path';
import type { TopCommand } from '../command.ts';
import { required, text } from '../options.ts';
import { printable } from '../output.ts';
import { titleOf } from '../titles.ts';

export const bundle: TopCommand = {
  name: 'bundle',
  summary: 'write a recorded run as one file, which `stemma rerun FILE` answers from without a home',
  group: 'Export, back up, erase',
  example: 'stemma bundle mine --output run.stemma',
  arguments: [
    ['<history>', 'the history whose newest run it is; of a branch, only the calls on the way to its tip'],
  ],
  options: [
    ['-o, --output <file>', 'the file, which is replaced: its name ends with .stemma'],
    ['--run <id>', 'the recorded run (default: the newest one of the history)'],
  ],
  run: async ({ findBranch, output, signal }, [given], options) => {
    const name = required(given);
    const to = text(options, 'output');
    if (to === undefined || !to.endsWith('.stemma'))
      throw fail('E_USAGE', 'name the file that is written, as in --output run.stemma');
    const { home, branchRef } = await findBranch(name);
    const { chooseRun, readRecording } = await import('@stemma/reruns');
    const only = name.includes(':') ? branchRef : null;
    const chosen = await chooseRun(home, branchRef, only, text(options, 'run') ?? null);
    const { run, attempts, providerCalls } = await readRecording(home, chosen);
    const all = [...attempts.values(), ...providerCalls];
    const histories = new Set([branchRef.history, ...all.map(({ history }) => history)]);
    const report = await home.operations.bundle({
      ...{
        history: branchRef.history,
        branchId: only?.branchId ?? null,
        run,
        name: await titleOf(home, branchRef.history),
      },
      ...{
        histories: [...histories],
        attempts: new Set(all.map(({ attemptId }) => attemptId)),
        to: resolve(to),
        signal,
      },
    });
    await output.result(
      report,
      () =>
        `${printable(to)}: ${all.length} calls in ${report.frames} frames and ${report.contents} contents, ${report.bytes} bytes\n` +
        `  stemma rerun ${printable(to)} -- COMMAND      answers it from the file\n`,
    );
    return undefined;
  },
};
