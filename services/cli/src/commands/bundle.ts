import { compareCodePoints } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { branchRefOf } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { resolve } from 'node:path';
import type { Context, TopCommand } from '../command.ts';
import { required, text } from '../options.ts';
import { printable } from '../output.ts';
import { titleOf } from '../titles.ts';

export const bundle: TopCommand = {
  name: 'bundle',
  summary:
    'write a recorded run, or whole histories, as one file: `stemma rerun` answers from it, `stemma import` takes it',
  group: 'Export, back up, erase',
  example: 'stemma bundle mine --output run.stemma',
  arguments: [
    ['<history>', 'the history whose newest run it is; of a branch, only the calls on the way to its tip'],
  ],
  options: [
    ['-o, --output <file>', 'the file, which is replaced: its name ends with .stemma'],
    ['--run <id>', 'the recorded run (default: the newest one of the history)'],
    [
      '--whole',
      'the whole history with all its branches, and those that its calls led to, for another home: `stemma import FILE`',
    ],
  ],
  run: async (context, [given], options) => {
    const { findBranch, output, signal } = context;
    const name = required(given);
    const to = text(options, 'output');
    if (to === undefined || !to.endsWith('.stemma'))
      throw fail('E_USAGE', 'name the file that is written, as in --output run.stemma');
    if (options['whole'] === true) return bundleWhole(context, { name, to, run: text(options, 'run') });
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

/** Writes histories with all that they have. */
const bundleWhole = async (
  { findBranch, output, signal }: Context,
  { name, to, run }: { readonly name: string; readonly to: string; readonly run: string | undefined },
): Promise<undefined> => {
  if (run !== undefined || name.includes(':'))
    throw fail(
      'E_USAGE',
      '--whole takes a history with all its runs and branches: leave out --run and the branch',
    );
  const { home, branchRef } = await findBranch(name);
  const { history } = branchRef;
  const histories = await historiesFrom(home, history);
  const report = await home.operations.bundle({
    ...{ history, branchId: null, run: null, name: await titleOf(home, history) },
    ...{ histories, attempts: 'all', to: resolve(to), signal },
  });
  await output.result(
    report,
    () =>
      `${printable(to)}: ${report.histories} ${report.histories === 1 ? 'history' : 'histories'} in ${report.frames} frames and ${report.contents} contents, ${report.bytes} bytes\n` +
      `  stemma import ${printable(to)}      in another home, with the same ids and hashes\n`,
  );
  return undefined;
};

/** A history, and those of conversations that its calls led to, and so on; the first one first, the others by their ids. */
const historiesFrom = async (home: Home, first: string): Promise<readonly string[]> => {
  const found = new Set([first]);
  for (const history of found)
    for (const { branchId } of await home.calls.counts(history))
      for (let from: number | null = 0; from !== null;) {
        const page = await home.calls.list(branchRefOf(history, branchId), { from });
        for (const { ledTo } of page.attempts) for (const led of ledTo) found.add(led.history);
        from = page.next;
      }
  return [first, ...[...found].filter((history) => history !== first).sort(compareCodePoints)];
};
