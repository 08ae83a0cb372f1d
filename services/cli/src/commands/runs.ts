import type { Home } from '@stemma/home';
import type { RunView } from '@stemma/pools';
import { defined } from '@stemma/values';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ACTOR_OPTIONS, actorOf, notesOf } from '../actor.ts';
import type { CommandSpec } from '../command.ts';
import { required, text, whole } from '../options.ts';
import { printable, table } from '../output.ts';
import { time } from '../time.ts';
import { titleOf } from '../titles.ts';

const RUN_ARGUMENTS: CommandSpec['arguments'] = [
  ['<history>', 'the history, by id or name'],
  ['<run>', 'the id of the run, or its beginning'],
];

export const runs: CommandSpec = {
  name: 'runs',
  summary: 'list the runs of pools that were asked for, and how far they are',
  arguments: [['[history]', 'a pool, by id or name (default: all)']],
  options: [['--open', 'only those that are not over']],
  subcommands: [
    {
      name: 'stop',
      summary: 'end a run; the round that is on its way is finished',
      arguments: RUN_ARGUMENTS,
      options: ACTOR_OPTIONS,
      run: async (context, [name, id], options) => {
        const actor = await actorOf(context, options);
        const notes = await notesOf(context, options);
        const { stopRun, viewRun } = await import('@stemma/pools');
        const { home, branchRef } = await context.findBranch(required(name));
        const run = await stopRun(home, branchRef.history, required(id), {
          actor,
          notes,
        });
        await shown(context.output, home, await viewRun(home, run));
        return undefined;
      },
    },
    {
      name: 'resume',
      summary: 'ask for the rounds that a run did not come to, with the same limits',
      arguments: RUN_ARGUMENTS,
      options: [
        ...ACTOR_OPTIONS,
        [
          '--command <id>',
          'the id of the new run; the same id sent twice has one effect (default: a new id)',
        ],
      ],
      run: async (context, [name, id], options) => {
        const actor = await actorOf(context, options);
        const notes = await notesOf(context, options);
        const { resumeRun, viewRun } = await import('@stemma/pools');
        const { home, branchRef } = await context.findBranch(required(name));
        const run = await resumeRun(home, branchRef.history, required(id), {
          id: text(options, 'command') ?? randomUUID(),
          actor,
          notes,
        });
        await shown(context.output, home, await viewRun(home, run));
        return undefined;
      },
    },
  ],
  run: async (context, [name], options) => {
    const { viewRuns } = await import('@stemma/pools');
    const open = options['open'] === true;
    const { home, history } =
      name === undefined
        ? { home: await context.home(), history: undefined }
        : await context
            .findBranch(required(name))
            .then((found) => ({ home: found.home, history: found.branchRef.history }));
    const views = await viewRuns(home, { open, ...defined({ history }) });
    const names = await namesOf(home, views);
    await context.output.result({ runs: views }, () =>
      views.length === 0 ? 'no runs\n' : listed(views, names, context.output.width),
    );
    return undefined;
  },
};

type Output = Parameters<CommandSpec['run']>[0]['output'];

/** Shows one run. */
export const shown = async (output: Output, home: Home, view: RunView): Promise<void> => {
  const names = await namesOf(home, [view]);
  await output.result(view, () => listed([view], names, output.width));
};

/** The names of the pools. */
const namesOf = async (home: Home, views: readonly RunView[]): Promise<ReadonlyMap<string, string>> => {
  const names = new Map<string, string>();
  for (const { history } of views) if (!names.has(history)) names.set(history, await titleOf(home, history));
  return names;
};

const poolIn = (name: string, branchId: number): string =>
  printable(branchId === 0 ? name : `${name}:${branchId}`);

const listed = (views: readonly RunView[], names: ReadonlyMap<string, string>, width: number): string =>
  table(
    ['RUN', 'POOL', 'ASKED', 'ROUNDS', 'STATE', 'BY', 'WHY'],
    views.map(({ run, history, branchId, at, done, rounds, state, actor, notes, runner, ended }) => [
      printable(run),
      poolIn(names.get(history) ?? history, branchId),
      time(at),
      `${done}/${rounds}`,
      ended?.how ?? state,
      printable(actor),
      printable(ended?.why ?? (runner === null ? notes : `${runner} makes its rounds`)),
    ]),
    width,
  );

export const runner: CommandSpec = {
  name: 'runner',
  summary: 'make the rounds that `run --request` asks for, of several pools at once, until Ctrl-C',
  arguments: [],
  serves: ({ once }) => once !== true,
  options: [
    ['--at-once <count>', 'how many branches run at the same time (default: 8)'],
    ['--once', 'end when no run is open'],
    ['--name <name>', 'what the runner calls itself in the log (default: this machine and process)'],
    ['--status-port <n>', 'the port for health and metrics; 0 takes any free port (default: none)'],
    ['--silence <ms>', 'after how many ms without a sign of life others take its runs (default: 2000)'],
  ],
  run: async ({ directory, env, output, signal }, _args, options) => {
    const atOnce = whole(options, 'atOnce', { least: 1, most: 999 });
    const statusPort = whole(options, 'statusPort', { least: 0, most: 65_535 });
    const silence = whole(options, 'silence', { least: 100, most: 999_999 });
    const { STEMMA_LOG: log = '', STEMMA_ROWS: rows = '' } = env;
    // Only this command needs it.
    const { runRunner } = await import('@stemma/runner');
    const report = await runRunner({
      directory,
      name: (text(options, 'name') ?? `${hostname()} ${process.pid}`).slice(0, 100),
      once: options['once'] === true,
      ...(log !== '' && { log }),
      ...(rows !== '' && { rows }),
      ...(atOnce !== undefined && { atOnce }),
      ...(statusPort !== undefined && { statusPort }),
      ...(silence !== undefined && { silence }),
      env,
      signal,
      say: output.say,
    });
    await output.result(report, () => `${report.rounds} rounds made, ${report.ended} runs ended\n`);
    return undefined;
  },
};
