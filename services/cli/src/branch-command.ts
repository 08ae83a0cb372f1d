import { fail } from '@stemma/errors';
import type { UnresolvedStep } from '@stemma/queries';
import { defined } from '@stemma/values';
import type { Context } from './command.ts';
import { required, text } from './options.ts';
import { printBranch } from './print-branch.ts';
import { submitSteps } from './submit.ts';

type Options = Readonly<Record<string, unknown>>;

type Argument = string | readonly string[] | undefined;

export const DESCRIPTION = ['--description <text>', 'the purpose of the branch'] as const;

export const descriptionOption = (options: Options): { readonly description?: string } =>
  defined({ description: text(options, 'description') });

/** A position as it was given: a script's empty variable is none. @throws E_USAGE */
export const reference = (given: Argument): string => {
  const ref = required(given);
  if (ref.trim() === '') throw fail('E_USAGE', 'the position is empty: give @t-1 @c12 @s57 or @name:NAME');
  return ref;
};

export const submitBranchStep = async (
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

export type FoundHomeBranch = Awaited<ReturnType<Context['findBranch']>>;

/** True if a branch shows what a position shows: it is the newest one, or where the branch started, and nothing came since. */
export const isAt = async ({ home, branchRef }: FoundHomeBranch, ref: string): Promise<boolean> => {
  const [tip, position] = [await home.position(branchRef), await home.position(branchRef, ref)];
  if (tip.seq === position.seq) return true;
  const { branches } = await home.read.history(branchRef.history);
  const own = branches.find(({ branchId }) => branchId === branchRef.branchId);
  return own !== undefined && own.parent !== null && tip.seq === own.branchId && own.at === position.seq;
};

/** A free name for a branch that a rollback takes its name from: `main-1`, `main-2`; undefined if it has none. */
export const abandonedName = async ({ home, branchRef }: FoundHomeBranch): Promise<string | undefined> => {
  const { branches } = await home.read.history(branchRef.history);
  const names = new Set(branches.map(({ name }) => name));
  const own = branches.find(({ branchId }) => branchId === branchRef.branchId)?.name ?? null;
  for (let number = 1; own !== null && number <= branches.length + 1; number++)
    if (!names.has(`${own}-${number}`)) return `${own}-${number}`;
  return undefined;
};

export const sayUnchanged = async (
  { output }: Context,
  { home, branchRef }: FoundHomeBranch,
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

export const rollBack = (
  context: Context,
  name: Argument,
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
