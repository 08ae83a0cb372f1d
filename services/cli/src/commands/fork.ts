import { fail } from '@stemma/errors';
import type { UnresolvedStep } from '@stemma/queries';
import type { CommandSpec, Context } from '../command.ts';
import { required, text } from '../options.ts';
import { printBranch } from '../print-branch.ts';
import { AUTHOR_OPTIONS, submitSteps } from '../submit.ts';

type Options = Readonly<Record<string, unknown>>;
type Argument = string | readonly string[] | undefined;

const HISTORY = ['<history>', 'a history or branch, by id or name'] as const;
const DESCRIPTION = ['--description <text>', 'what it is for'] as const;

const descriptionOption = (options: Options): { readonly description?: string } => {
  const description = text(options, 'description');
  return description === undefined ? {} : { description };
};

/** A position as it was given: a script's empty variable is none. @throws E_USAGE */
const reference = (given: Argument): string => {
  const ref = required(given);
  if (ref.trim() === '') throw fail('E_USAGE', 'the position is empty: @t-1 @c12 @s57 @name:NAME');
  return ref;
};

const submitBranchStep = async (
  context: Context,
  name: Argument,
  options: Options,
  step: UnresolvedStep,
): Promise<undefined> => {
  const found = await context.findBranch(name);
  const outcome = await submitSteps(context, found, [step], options);
  await printBranch(context.output, found.home, outcome);
  return undefined;
};

export const fork: CommandSpec = {
  name: 'fork',
  summary: 'begin a branch of its own at a position; the one it leaves goes on as it was',
  arguments: [HISTORY, ['[ref]', '@t-1 @c12 @s57 @name:NAME; nothing for where the branch stands']],
  options: [['--name <name>', 'a name for it'], DESCRIPTION, ...AUTHOR_OPTIONS],
  run: (context, [name, ref], options) =>
    submitBranchStep(context, name, options, {
      op: 'fork',
      name: text(options, 'name') ?? null,
      ...descriptionOption(options),
      ...(ref === undefined ? {} : { at: reference(ref) }),
    }),
};

export const rollback: CommandSpec = {
  name: 'rollback',
  summary: 'go on from an earlier position; what came after it stays, as a branch of its own',
  arguments: [HISTORY, ['<ref>', '@t-1 @c12 @s57 @name:NAME, on the ancestor path of the branch']],
  options: [['--abandoned <name>', 'a name for the branch that is left'], DESCRIPTION, ...AUTHOR_OPTIONS],
  run: (context, [name, ref], options) => {
    const abandoned = text(options, 'abandoned');
    return submitBranchStep(context, name, options, {
      op: 'rollback',
      to: reference(ref),
      ...(abandoned === undefined ? {} : { abandoned }),
      ...descriptionOption(options),
    });
  },
};

export const load: CommandSpec = {
  name: 'load',
  summary: 'go on from a saved position: a rollback where it is in the past of the branch, else a fork',
  arguments: [HISTORY, ['<name>', 'a saved position by name, or any position (@c12)']],
  options: [['--name <name>', 'a name for the fork'], DESCRIPTION, ...AUTHOR_OPTIONS],
  run: (context, [name, saved], options) => {
    const from = reference(saved);
    return submitBranchStep(context, name, options, {
      op: 'load',
      from: from.includes('@') ? from : `@name:${from}`,
      name: text(options, 'name') ?? null,
      ...descriptionOption(options),
    });
  },
};
