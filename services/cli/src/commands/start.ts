import { randomUUID } from 'node:crypto';
import { historyId } from '@stemma/history';
import type { CommandLine } from '../command.ts';
import { text } from '../options.ts';
import { printOutcome } from '../submit.ts';

export const start: CommandLine = {
  name: 'start',
  summary: 'start an empty history',
  arguments: [],
  options: [
    ['--name <name>', 'a name for it'],
    ['--recorder <name>', 'who records (default: cli)'],
    ['--actor <name>', 'who starts it, if it is an act of a person'],
    ['--notes <text>', 'why'],
    ['--command <id>', 'the id of the command (default: a new one)'],
  ],
  run: async ({ home: open, output }, _args, options) => {
    const name = text(options, 'name') ?? null;
    const id = text(options, 'command') ?? randomUUID();
    const { actor, notes } = { actor: text(options, 'actor'), notes: text(options, 'notes') };
    const home = await open({ create: true });
    const outcome = await home.submit({
      id,
      history: historyId(name, id),
      lineage: 0,
      by: actor === undefined ? { recorder: text(options, 'recorder') ?? 'cli' } : { actor },
      ...(notes === undefined ? {} : { notes }),
      steps: [{ op: 'start', name }],
    });
    await printOutcome({ output, home: open }, outcome);
    return undefined;
  },
};
