import { fail } from '@stemma/errors';
import type { TopCommand } from '../command.ts';
import { HISTORY, MAX_STDIN, readText, required, text } from '../options.ts';
import { AUTHOR_OPTIONS, printOutcome, submitSteps } from '../submit.ts';

export const edit: TopCommand = {
  name: 'edit',
  summary: 'give a block of the context another content, also one of an earlier call',
  group: 'Change a context',
  place: 2,
  example: "stemma edit mine m1 --content 'Be brief.'",
  arguments: [HISTORY, ['<id>', 'the block, by id']],
  options: [['--content <text>', 'the new content as text; - reads stdin'], ...AUTHOR_OPTIONS],
  run: async (context, [name, id], options) => {
    const given = text(options, 'content');
    if (given === undefined) throw fail('E_USAGE', 'the new content is missing: give --content');
    const content = given === '-' ? await readText(context, '-', MAX_STDIN) : given;
    const found = await context.findBranch(name);
    const block = required(id).replace(/^#/, '');
    const steps = await found.home.steering.editSteps(found.branchRef, new Map([[block, content]]));
    await printOutcome(context, await submitSteps(context, found, [...steps], options));
    return undefined;
  },
};
