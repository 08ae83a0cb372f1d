import { fail } from '@stemma/errors';
import type { CommandSpec } from '../command.ts';
import { confirmed } from '../confirm.ts';
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
    if (options['yes'] !== true && !(await confirmed(context, 'Acknowledge?')))
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
