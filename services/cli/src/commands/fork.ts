import { fail, isStemmaError, type StemmaError } from '@stemma/errors';
import type { UnresolvedStep } from '@stemma/queries';
import { defined } from '@stemma/values';
import type { CommandSpec, Context } from '../command.ts';
import { required, text } from '../options.ts';
import { printBranch } from '../print-branch.ts';
import { isPosition, positionOf, refusePosition } from '../references.ts';
import { AUTHOR_OPTIONS, submitSteps } from '../submit.ts';

type Options = Readonly<Record<string, unknown>>;
type Argument = string | readonly string[] | undefined;

const HISTORY = ['<history>', 'a history or branch, by id or name'] as const;
const DESCRIPTION = ['--description <text>', 'the purpose of the branch'] as const;

const descriptionOption = (options: Options): { readonly description?: string } => {
  const description = text(options, 'description');
  return description === undefined ? {} : { description };
};

/** A position as it was given: a script's empty variable is none. @throws E_USAGE */
const reference = (given: Argument): string => {
  const ref = required(given);
  if (ref.trim() === '') throw fail('E_USAGE', 'the position is empty: give @t-1 @c12 @s57 or @name:NAME');
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
  summary: 'start a new branch at a position; the parent branch stays as it is',
  arguments: [HISTORY, ['[ref]', 'a position: @t-1 @c12 @s57 @name:NAME (default: the tip of the branch)']],
  options: [['--name <name>', 'the name of the new branch (default: none)'], DESCRIPTION, ...AUTHOR_OPTIONS],
  run: async (context, [name, ref], options) => {
    refusePosition(text(options, 'name'));
    return submitBranchStep(context, name, options, {
      op: 'fork',
      name: text(options, 'name') ?? null,
      ...descriptionOption(options),
      ...(ref === undefined ? {} : { at: reference(ref) }),
    });
  },
};

type Found = Awaited<ReturnType<Context['findBranch']>>;

/** True if a branch shows what a position shows: it is the newest one, or where the branch started, and nothing came since. */
const isAt = async ({ home, branchRef }: Found, ref: string): Promise<boolean> => {
  const [tip, position] = [await home.position(branchRef), await home.position(branchRef, ref)];
  if (tip.seq === position.seq) return true;
  const { branches } = await home.read.history(branchRef.history);
  const own = branches.find(({ branchId }) => branchId === branchRef.branchId);
  return own !== undefined && own.parent !== null && tip.seq === own.branchId && own.at === position.seq;
};

/** A free name for a branch that a rollback takes its name from: `main-1`, `main-2`; undefined if it has none. */
const abandonedName = async ({ home, branchRef }: Found): Promise<string | undefined> => {
  const { branches } = await home.read.history(branchRef.history);
  const names = new Set(branches.map(({ name }) => name));
  const own = branches.find(({ branchId }) => branchId === branchRef.branchId)?.name ?? null;
  for (let number = 1; own !== null && number <= branches.length + 1; number++)
    if (!names.has(`${own}-${number}`)) return `${own}-${number}`;
  return undefined;
};

const sayUnchanged = async (
  { output }: Context,
  { home, branchRef }: Found,
  ref: string,
  what: string,
): Promise<undefined> => {
  const { label, branch, branchId } = await home.position(branchRef, ref);
  await output.result(
    { history: branchRef.history, branch, branchId, position: label, unchanged: true },
    () => `the branch is already at ${label}: there is nothing to ${what}\n`,
  );
  return undefined;
};

const rollBack = (
  context: Context,
  name: string | readonly string[] | undefined,
  options: Options,
  to: string,
  abandoned: string | undefined,
): Promise<undefined> =>
  submitBranchStep(context, name, options, {
    op: 'rollback',
    to,
    ...defined({ abandoned }),
    ...descriptionOption(options),
  });

/** What to name instead of a position that the branch does not have, of a branch that went another way. */
const notOnPath = async ({ home, branchRef }: Found, to: string, name: string): Promise<StemmaError> => {
  const { branches } = await home.read.history(branchRef.history);
  const called = ({ branchId }: { readonly branchId: number }): string =>
    branches.find((each) => each.branchId === branchId)?.name ?? String(branchId);
  const position = await home.position(branchRef, to);
  const [own, other] = [called(branchRef), called(position)];
  const history = name.includes(':') ? name.slice(0, name.lastIndexOf(':')) : name;
  return fail(
    'E_NOT_ON_ANCESTOR_PATH',
    `${position.label} of the branch ${other} is not in the past of ${own}: \`stemma fork ${history} ${other}${position.label}\` starts a branch there`,
    { branchId: position.branchId, seq: position.seq, branch: branchRef.branchId },
  );
};

export const rollback: CommandSpec = {
  name: 'rollback',
  summary: 'return to an earlier position; the abandoned branch keeps what came after it',
  arguments: [HISTORY, ['<ref>', 'a position on the ancestor path of the branch: @t-1 @c12 @s57 @name:NAME']],
  options: [
    [
      '--abandoned <name>',
      'the name of the abandoned branch (default: that of the branch with a number, main-1)',
    ],
    DESCRIPTION,
    ...AUTHOR_OPTIONS,
  ],
  run: async (context, [name, ref], options) => {
    const to = reference(ref);
    const found = await context.findBranch(name);
    // A command that is sent again is answered as it was the first time, so nothing is derived from what there is now.
    const isFirst = text(options, 'command') === undefined;
    if (isFirst && (await isAt(found, to))) return sayUnchanged(context, found, to, 'roll back');
    const abandoned = text(options, 'abandoned') ?? (isFirst ? await abandonedName(found) : undefined);
    try {
      await rollBack(context, name, options, to, abandoned);
      return undefined;
    } catch (error) {
      if (!isStemmaError(error, 'E_NOT_ON_ANCESTOR_PATH')) throw error;
      throw await notOnPath(found, to, required(name));
    }
  },
};

/** The saved position of this name, else the position that it is the short form of (`c3`). */
const savedOrPosition = async ({ home, branchRef }: Found, text: string): Promise<string> => {
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

export const load: CommandSpec = {
  name: 'load',
  summary:
    'continue from a saved position: a rollback if it is on the ancestor path of the branch, else a fork',
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
