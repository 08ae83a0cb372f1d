import { fail, isStemmaError, type StemmaError } from '@stemma/errors';
import type { TopCommand } from '../command.ts';
import { HISTORY, required, text } from '../options.ts';
import { AUTHOR_OPTIONS } from '../submit.ts';
import {
  type FoundHomeBranch,
  DESCRIPTION,
  reference,
  isAt,
  sayUnchanged,
  abandonedName,
  rollBack,
} from '../branch-command.ts';

/** What to name instead of a position that the branch does not have, of a branch that went another way. */
const notOnPath = async (
  { home, branchRef }: FoundHomeBranch,
  to: string,
  name: string,
): Promise<StemmaError> => {
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

export const rollback: TopCommand = {
  name: 'rollback',
  summary: 'return to an earlier position; the abandoned branch keeps what came after it',
  group: 'Save, fork, return',
  place: 5,
  example: 'stemma rollback mine @c5',
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
