import { fail } from '@stemma/errors';
import { historyId } from '@stemma/history';
import { randomUUID } from 'node:crypto';
import type { CommandSpec } from '../command.ts';
import { text } from '../options.ts';
import { printOutcome } from '../submit.ts';

export const start: CommandSpec = {
  name: 'start',
  summary: 'start an empty history',
  arguments: [],
  options: [
    ['--name <name>', 'a name for it'],
    [
      '--thread <mode>',
      "what the model is shown: full, or pre: of the turns only the newest one's pre-context (default: full)",
    ],
    ['--recorder <name>', 'who records (default: cli)'],
    ['--actor <name>', 'who starts it, if it is an act of a person'],
    ['--notes <text>', 'why'],
    ['--command <id>', 'the id of the command (default: a new one)'],
  ],
  run: async ({ home: open, output }, _args, options) => {
    const name = text(options, 'name') ?? null;
    const id = text(options, 'command') ?? randomUUID();
    const { actor, notes } = { actor: text(options, 'actor'), notes: text(options, 'notes') };
    const thread = text(options, 'thread');
    if (thread !== undefined && thread !== 'full' && thread !== 'pre')
      throw fail('E_USAGE', `--thread is full or pre, not ${JSON.stringify(thread.slice(0, 60))}`);
    const home = await open({ create: true });
    const outcome = await home.submit({
      id,
      history: historyId(name, id),
      branchId: 0,
      by: actor === undefined ? { recorder: text(options, 'recorder') ?? 'cli' } : { actor },
      ...(notes === undefined ? {} : { notes }),
      steps: [{ op: 'start', name, ...(thread === undefined ? {} : { thread }) }],
    });
    await printOutcome({ output, home: open }, outcome);
    return undefined;
  },
};
