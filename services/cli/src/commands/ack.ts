import { fail } from '@stemma/errors';
import type { TopCommand } from '../command.ts';
import { confirmed } from '../confirm.ts';
import { required } from '../options.ts';

export const ack: TopCommand = {
  name: 'ack',
  summary: 'reopen a partition that damaged records of unknown histories closed',
  group: 'Check and mend',
  place: 6,
  example: 'stemma ack 0@4711',
  arguments: [
    [
      '<records>',
      'a damaged record as `stemma verify` prints it, or the first and the last of several: PARTITION@OFFSET or PARTITION@FROM..TO',
    ],
  ],
  options: [['--yes', 'no confirmation prompt']],
  run: async (context, [records], options) => {
    const { home: open, output } = context;
    const { partition, from, to } = rangeOf(required(records));
    const home = await open();
    output.say(
      `The content of ${from === to ? 'the damaged record' : 'damaged records'} is lost. It may have been a frame of any ` +
        'history; a command in it, sent again, may be recorded a second time.',
    );
    if (options['yes'] !== true && !(await confirmed(context, 'Acknowledge?')))
      throw fail('E_CANCELLED', 'nothing is acknowledged: the answer was not yes');
    const { acknowledged, before, closedBy } = await home.operations.acknowledge(partition, { from, to });
    const known = before === 0 ? '' : `, ${before} before`;
    await output.result(
      { partition, from, to, acknowledged, before, closedBy },
      () =>
        `${acknowledged} damaged ${acknowledged === 1 ? 'record is' : 'records are'} acknowledged${known}; ` +
        (closedBy === null
          ? `partition ${partition} is open\n`
          : `partition ${partition} is still closed by the damaged record ${partition}@${closedBy}\n`),
    );
    return undefined;
  },
};

/** `0@100..5000`: partition 0, the records from offset 100 to 5000. @throws E_USAGE */
const rangeOf = (
  records: string,
): { readonly partition: number; readonly from: number; readonly to: number } => {
  const found = /^(\d{1,9})@(\d{1,15})(?:\.\.(\d{1,15}))?$/.exec(records);
  const [partition, from, to] = [found?.[1], found?.[2], found?.[3] ?? found?.[2]].map(Number);
  if (found === null || partition === undefined || from === undefined || to === undefined)
    throw fail(
      'E_USAGE',
      `${JSON.stringify(records)} names no records: give PARTITION@OFFSET or PARTITION@FROM..TO`,
    );
  if (to < from) throw fail('E_USAGE', `${JSON.stringify(records)} ends before it begins`);
  return { partition, from, to };
};
