import { fail } from '@stemma/errors';
import { historyId } from '@stemma/history';
import { defined } from '@stemma/values';
import { randomUUID } from 'node:crypto';
import type { TopCommand } from '../command.ts';
import { ERASABLE_OPTIONS, erasableOf } from '../erasable.ts';
import { text } from '../options.ts';
import { printable } from '../output.ts';
import { printOutcome } from '../submit.ts';

export const start: TopCommand = {
  name: 'start',
  summary: 'start an empty history',
  group: 'Record and import',
  place: 3,
  example: 'stemma start --name desk',
  arguments: [],
  options: [
    ['--name <name>', 'the name of the history (default: none)'],
    [
      '--thread <mode>',
      "what the model is shown: full, or pre, which keeps only the newest turn's pre-context (default: full)",
    ],
    ...ERASABLE_OPTIONS,
    ['--recorder <name>', 'the agent or program that records (default: cli)'],
    ['--actor <name>', 'the person who acts, in place of a recorder'],
    ['--notes <text>', 'the reason, with --actor'],
    ['--command <id>', 'the id of the command; the same id sent twice has one effect (default: a new id)'],
  ],
  run: async ({ home: open, output }, _args, options) => {
    const name = text(options, 'name') ?? null;
    const id = text(options, 'command') ?? randomUUID();
    const { actor, notes } = { actor: text(options, 'actor'), notes: text(options, 'notes') };
    const thread = text(options, 'thread');
    if (thread !== undefined && thread !== 'full' && thread !== 'pre')
      throw fail('E_USAGE', `--thread must be full or pre, not ${JSON.stringify(thread.slice(0, 60))}`);
    const home = await open({ create: true });
    const outcome = await home.submit({
      id,
      history: historyId(name, id),
      branchId: 0,
      by: actor === undefined ? { recorder: text(options, 'recorder') ?? 'cli' } : { actor },
      ...defined({ notes }),
      steps: [{ op: 'start', name, ...defined({ thread }), ...erasableOf(options) }],
    });
    if (output.json) await printOutcome({ output, home: open }, outcome);
    else await output.write(`${printable(name ?? outcome.history)} is started\n`);
    return undefined;
  },
};
