import { fail } from '@stemma/errors';
import type { StepToPlace } from '@stemma/queries';
import type { CommandLine, Context } from '../command.ts';
import { required, text } from '../options.ts';
import { printBranch } from '../print-branch.ts';
import { RECORDING, submitSteps } from '../submit.ts';

type Options = Readonly<Record<string, unknown>>;
type Argument = string | readonly string[] | undefined;

const HISTORY = ['<history>', 'a history or lineage, by id or name'] as const;
const DESCRIPTION = ['--description <text>', 'what it is for'] as const;

const described = (options: Options): { readonly description?: string } => {
  const description = text(options, 'description');
  return description === undefined ? {} : { description };
};

/** A position as it was given: a script's empty variable is none. @throws E_USAGE */
const reference = (given: Argument): string => {
  const ref = required(given);
  if (ref.trim() === '') throw fail('E_USAGE', 'the position is empty: @t-1 @c12 @s57 @name:NAME');
  return ref;
};

const branch = async (
  context: Context,
  name: Argument,
  options: Options,
  step: StepToPlace,
): Promise<undefined> => {
  const found = await context.line(name);
  const outcome = await submitSteps(context, found, [step], options);
  await printBranch(context.output, found.home, outcome);
  return undefined;
};

export const fork: CommandLine = {
  name: 'fork',
  summary: 'begin a lineage of its own at a position; the one it leaves goes on as it was',
  arguments: [HISTORY, ['[ref]', '@t-1 @c12 @s57 @name:NAME; nothing for where the lineage stands']],
  options: [['--name <name>', 'a name for it'], DESCRIPTION, ...RECORDING],
  run: (context, [name, ref], options) =>
    branch(context, name, options, {
      op: 'fork',
      name: text(options, 'name') ?? null,
      ...described(options),
      ...(ref === undefined ? {} : { at: reference(ref) }),
    }),
};

export const rollback: CommandLine = {
  name: 'rollback',
  summary: 'go on from an earlier position; what came after it stays, as a lineage of its own',
  arguments: [HISTORY, ['<ref>', '@t-1 @c12 @s57 @name:NAME, on the chain of the lineage']],
  options: [['--left <name>', 'a name for the lineage that is left'], DESCRIPTION, ...RECORDING],
  run: (context, [name, ref], options) => {
    const abandoned = text(options, 'left');
    return branch(context, name, options, {
      op: 'rollback',
      to: reference(ref),
      ...(abandoned === undefined ? {} : { abandoned }),
      ...described(options),
    });
  },
};

export const load: CommandLine = {
  name: 'load',
  summary: 'go on from a saved position: a rollback where it is in the past of the lineage, else a fork',
  arguments: [HISTORY, ['<name>', 'a saved position by name, or any position (@c12)']],
  options: [['--name <name>', 'a name for the fork'], DESCRIPTION, ...RECORDING],
  run: (context, [name, saved], options) => {
    const from = reference(saved);
    return branch(context, name, options, {
      op: 'load',
      from: from.includes('@') ? from : `@name:${from}`,
      name: text(options, 'name') ?? null,
      ...described(options),
    });
  },
};
