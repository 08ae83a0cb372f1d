import { defined } from '@stemma/values';
import { randomUUID } from 'node:crypto';
import { ACTOR_OPTIONS, actorOf, notesOf } from '../actor.ts';
import { answersOf } from '../answers.ts';
import type { CommandSpec, TopCommand } from '../command.ts';
import { required, text } from '../options.ts';
import { shown, namesOf, listed } from '../run-table.ts';

const RUN_ARGUMENTS: CommandSpec['arguments'] = [
  ['<history>', 'the history, by id or name'],
  ['<run>', 'the id of the run, or its beginning'],
];

export const runs: TopCommand = {
  name: 'runs',
  summary: 'list the runs of pools that were asked for, and how far they are',
  group: 'Run a pool of messages',
  example: 'stemma runs sea --open',
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
    const home = await context.home();
    const history = name === undefined ? undefined : (await context.findBranch(name)).branchRef.history;
    const open = options['open'] === true ? 'true' : undefined;
    const found = await (await answersOf(home)).byName.poolRuns(defined({ history, open }));
    const names = await namesOf(home, found.runs);
    await context.output.result(found, () =>
      found.runs.length === 0 ? 'no runs\n' : listed(found.runs, names, context.output.width),
    );
    return undefined;
  },
};
