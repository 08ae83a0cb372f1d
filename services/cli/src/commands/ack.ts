import { fail } from '@stemma/errors';
import { createInterface } from 'node:readline/promises';
import type { CommandSpec, Context } from '../command.ts';
import { required } from '../options.ts';

export const ack: CommandSpec = {
  name: 'ack',
  summary: 'reopen a partition that a damaged record of an unknown history closed',
  arguments: [['<record>', 'the damaged record as `stemma verify` prints it: PARTITION@OFFSET']],
  options: [['--yes', 'no confirmation prompt']],
  run: async (context, [record], options) => {
    const { home: open, output } = context;
    const found = /^(\d{1,9})@(\d{1,15})$/.exec(required(record));
    if (found === null)
      throw fail('E_USAGE', `${JSON.stringify(record)} is not a record: give PARTITION@OFFSET`);
    const [, partition, offset] = found;
    const home = await open();
    output.say(
      'The content of the damaged record is lost. It may have been a frame of any history; a command in it, sent again, ' +
        'may be recorded a second time.',
    );
    if (options['yes'] !== true && !(await confirmed(context)))
      throw fail('E_CANCELLED', 'the record is not acknowledged: the answer was not yes');
    await home.acknowledge(Number(partition), Number(offset));
    const result = { partition: Number(partition), offset: Number(offset) };
    await output.result(
      result,
      () => `partition ${result.partition} is open again after offset ${result.offset}\n`,
    );
    return undefined;
  },
};

/** Asks on the terminal. @throws E_USAGE where there is none: then only --yes will do. */
const confirmed = async ({ stdin, stderr, signal }: Context): Promise<boolean> => {
  if (stdin.isTTY !== true || stderr.isTTY !== true)
    throw fail('E_USAGE', 'there is no terminal to ask on: give --yes');
  const ask = createInterface({ input: stdin, output: stderr });
  // Ctrl-C and Ctrl-D close it, and then no answer comes.
  const closed = new AbortController();
  ask.on('close', () => closed.abort());
  try {
    const answer = await ask.question('Acknowledge? Type yes: ', {
      signal: AbortSignal.any([signal, closed.signal]),
    });
    return answer.trim() === 'yes';
  } catch {
    return false;
  } finally {
    ask.close();
  }
};
