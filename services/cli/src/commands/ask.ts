import { defined } from '@stemma/values';
import { randomUUID } from 'node:crypto';
import { ACTOR_OPTIONS, actorOf, notesOf } from '../actor.ts';
import type { TopCommand } from '../command.ts';
import { required, text, whole } from '../options.ts';
import { printable } from '../output.ts';

export const ask: TopCommand = {
  name: 'ask',
  summary: 'ask a model about a pool; nothing is added to it, question and answer are recorded',
  group: 'Run a pool of messages',
  example: "stemma ask sea 'What do they agree on?'",
  arguments: [
    ['<history>', 'a pool or branch of one, by id or name'],
    ['<question>', 'what is asked'],
  ],
  options: [
    ['--mind <mind>', 'who is asked (default: the first mind of the pool)'],
    ['--messages <count>', 'how many of the newest messages are shown (default: the active pool)'],
    ...ACTOR_OPTIONS,
    ['--command <id>', 'the id of the command; the same id sent twice has one effect (default: a new id)'],
  ],
  run: async (context, [name, question], options) => {
    const mind = text(options, 'mind');
    const messages = whole(options, 'messages', { least: 1 });
    const actor = await actorOf(context, options);
    const notes = await notesOf(context, options);
    const { askPool } = await import('@stemma/pools');
    const { home, branchRef } = await context.findBranch(required(name));
    const reply = await askPool(home, branchRef, {
      id: text(options, 'command') ?? randomUUID(),
      question: required(question),
      actor,
      notes,
      minds: { env: context.env },
      signal: context.signal,
      ...defined({ mind, messages }),
    });
    const { position, seq, ...rest } = reply;
    await context.output.result(
      { ...rest, position: `@s${seq}`, branch: position.branch },
      () => `${printable(reply.answer)}\n`,
    );
    return undefined;
  },
};
