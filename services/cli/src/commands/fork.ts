import { defined } from '@stemma/values';
import type { TopCommand } from '../command.ts';
import { HISTORY, text } from '../options.ts';
import { refusePosition } from '../references.ts';
import { AUTHOR_OPTIONS } from '../submit.ts';
import { DESCRIPTION, submitBranchStep, descriptionOption, reference } from '../branch-command.ts';

export const fork: TopCommand = {
  name: 'fork',
  summary: 'start a new branch at a position; the parent branch stays as it is',
  group: 'Save, fork, return',
  place: 4,
  example: "stemma fork mine @c5 --name what-if --notes 'another prompt'",
  arguments: [HISTORY, ['[ref]', 'a position: @t-1 @c12 @s57 @name:NAME (default: the tip of the branch)']],
  options: [['--name <name>', 'the name of the new branch (default: none)'], DESCRIPTION, ...AUTHOR_OPTIONS],
  run: async (context, [name, ref], options) => {
    refusePosition(text(options, 'name'));
    return submitBranchStep(context, name, options, {
      op: 'fork',
      name: text(options, 'name') ?? null,
      ...descriptionOption(options),
      ...defined({ at: ref === undefined ? undefined : reference(ref) }),
    });
  },
};
