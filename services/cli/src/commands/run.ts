import { ERRORS } from '@stemma/errors';
import type { PoolRun } from '@stemma/pools';
import { defined } from '@stemma/values';
import { randomUUID } from 'node:crypto';
import { ACTOR_OPTIONS, actorOf, notesOf } from '../actor.ts';
import type { TopCommand } from '../command.ts';
import { required, text, whole } from '../options.ts';
import { printable } from '../output.ts';
import { openProgress } from '../progress.ts';
import { shown } from '../run-table.ts';
import { titled, titleOf } from '../titles.ts';

export const run: TopCommand = {
  name: 'run',
  summary: 'run a pool: in each round a model is shown a sample of messages and adds some',
  group: 'Run a pool of messages',
  example: 'stemma run sea --rounds 100 --checkpoint-every 25',
  arguments: [['<history>', 'a pool or branch of one, by id or name']],
  options: [
    ['--rounds <count>', 'how many rounds (default: 1)'],
    [
      '--checkpoint-every <count>',
      'record a `run` intervention after so many rounds, too (default: at the end)',
    ],
    ['--tokens <count>', 'the most tokens that the rounds take together (default: no limit)'],
    ['--cost <amount>', 'the most that they cost, by the price table of the home (default: no limit)'],
    ['--seconds <count>', 'the most seconds; the round on its way is finished (default: no limit)'],
    ['--request', 'only ask for the rounds: a runner makes them (`stemma runner`)'],
    ...ACTOR_OPTIONS,
    [
      '--command <id>',
      'with --request: the id of the run; the same id sent twice has one effect (default: a new id)',
    ],
  ],
  run: async (context, [name], options) => {
    const { env, signal, stderr, output } = context;
    const rounds = whole(options, 'rounds', { least: 1, most: 1_000_000 }) ?? 1;
    const every = whole(options, 'checkpointEvery', { least: 1 });
    const tokens = whole(options, 'tokens', { least: 1 });
    const seconds = whole(options, 'seconds', { least: 1 });
    const actor = await actorOf(context, options);
    const notes = await notesOf(context, options);
    const cost = text(options, 'cost');
    const { requestRun, runPool, viewRun } = await import('@stemma/pools');
    const { home, branchRef } = await context.findBranch(required(name));
    const limits = defined({ checkpointEvery: every, tokens, cost, seconds });
    if (options['request'] === true) {
      const id = text(options, 'command') ?? randomUUID();
      const asked = await requestRun(home, branchRef, { id, actor, notes, rounds, ...limits });
      await shown(output, home, await viewRun(home, asked));
      return undefined;
    }
    const display = openProgress('rounds', stderr, signal);
    let done = 0;
    let result: PoolRun;
    try {
      result = await runPool(home, branchRef, {
        rounds,
        actor,
        notes,
        minds: { env },
        signal,
        progress: () => {
          done++;
          if (!signal.aborted) display.count(done, rounds);
        },
        ...limits,
      });
    } finally {
      display.end();
    }
    const title = await titleOf(home, result.history);
    await output.result(result, () =>
      describe({ ...result, branch: titled(result.branch, result.history, title) }),
    );
    return result.error === null ? undefined : ERRORS[result.error.code].exit;
  },
};

const describe = ({ branch, position, rounds, round, added, tokens, ended, why }: PoolRun): string =>
  [
    `${ended}: ${printable(why)}\n`,
    `${rounds} ${rounds === 1 ? 'round' : 'rounds'}, ${added} ${added === 1 ? 'message' : 'messages'} added, ${tokens} tokens\n`,
    `${branch} is at round ${round}, ${position}\n`,
  ].join('');
