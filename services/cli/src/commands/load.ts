import { isStemmaError } from '@stemma/errors';
import type { TopCommand } from '../command.ts';
import { HISTORY, text } from '../options.ts';
import { isPosition, positionOf } from '../references.ts';
import { AUTHOR_OPTIONS } from '../submit.ts';
import {
  type FoundHomeBranch,
  DESCRIPTION,
  reference,
  isAt,
  sayUnchanged,
  rollBack,
  abandonedName,
  submitBranchStep,
  descriptionOption,
} from '../branch-command.ts';

/** The saved position of this name, else the position that it is the short form of (`c3`). */
const savedOrPosition = async ({ home, branchRef }: FoundHomeBranch, text: string): Promise<string> => {
  const saved = `@name:${text}`;
  if (!isPosition(text)) return saved;
  return home.position(branchRef, saved).then(
    () => saved,
    (error: unknown) => {
      if (isStemmaError(error, 'E_SNAPSHOT_NOT_FOUND')) return positionOf(text);
      throw error;
    },
  );
};

export const load: TopCommand = {
  name: 'load',
  summary:
    'continue from a saved position: a rollback if it is on the ancestor path of the branch, else a fork',
  group: 'Save, fork, return',
  place: 3,
  example: 'stemma load mine before-refund',
  arguments: [HISTORY, ['<name>', 'a saved position by name, or any position (@c12)']],
  options: [['--name <name>', 'the name of the fork (default: none)'], DESCRIPTION, ...AUTHOR_OPTIONS],
  run: async (context, [name, saved], options) => {
    const from = reference(saved);
    const ref = from.includes('@') ? from : await savedOrPosition(await context.findBranch(name), from);
    const fork = text(options, 'name') ?? null;
    // A command that is sent again is answered as it was the first time, so nothing is derived from what there is now.
    if (text(options, 'command') === undefined) {
      const found = await context.findBranch(name);
      if (await isAt(found, ref)) return sayUnchanged(context, found, ref, 'load');
      const { home, branchRef } = found;
      const how = await home.branches.howToContinue(branchRef, await home.position(branchRef, ref));
      if (how === 'rollback' && fork === null)
        return rollBack(context, name, options, ref, await abandonedName(found));
    }
    return submitBranchStep(context, name, options, {
      op: 'load',
      from: ref,
      name: fork,
      ...descriptionOption(options),
    });
  },
};
