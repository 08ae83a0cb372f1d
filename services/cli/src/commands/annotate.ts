import { fail } from '@stemma/errors';
import type { BranchPosition } from '@stemma/events';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { defined } from '@stemma/values';
import type { TopCommand } from '../command.ts';
import { required, text } from '../options.ts';
import { AUTHOR_OPTIONS, printOutcome, submitSteps } from '../submit.ts';

export const annotate: TopCommand = {
  name: 'annotate',
  summary: 'add a note to a position or to an intervention; earlier notes stay',
  group: 'Save, fork, return',
  place: 7,
  example: "stemma annotate mine 'asked twice' --at @c5",
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    ['<note>', 'the note'],
  ],
  options: [
    ['--at <ref>', 'the position: @t-1 @c12 @s57 @name:NAME (default: the tip of the branch)'],
    ['--intervention <id>', 'the intervention, by id'],
    ...AUTHOR_OPTIONS,
  ],
  run: async (context, [name, note], options) => {
    const found = await context.findBranch(name);
    const position = await positionOf(found, options);
    const outcome = await submitSteps(
      context,
      found,
      [{ op: 'annotate', note: required(note), ...defined({ position }) }],
      options,
    );
    await printOutcome(context, outcome);
    return undefined;
  },
};

const positionOf = async (
  { home, branchRef }: { readonly home: Home; readonly branchRef: BranchRef },
  options: Readonly<Record<string, unknown>>,
): Promise<BranchPosition | string | undefined> => {
  const [ref, intervention] = [text(options, 'at'), text(options, 'intervention')];
  if (ref !== undefined && intervention !== undefined)
    throw fail('E_USAGE', '--at and --intervention are both given: give one of them');
  return intervention === undefined
    ? ref
    : home.branches.interventionPosition(branchRef.history, intervention);
};
