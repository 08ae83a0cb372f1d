import { fail } from '@stemma/errors';
import type { CallAddress } from '@stemma/events';
import type { Command } from '@stemma/history';
import { readAncestorPath, readTipSeq, type BranchRef } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { listCallLinks, type CallLink } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import type { Corrector } from './assign-call.ts';

/** What linking needs of a home. */
export type LinkTarget = {
  submit(command: Command): Promise<unknown>;
  catchUp(): Promise<void>;
};

/** Which call led to a conversation now; `before`: somebody had said so already, and nothing is recorded. */
export type LinkedConversation = { readonly parent: CallAddress | null; readonly before: boolean };

/** Conversations that led to each other, one to the next. */
const MOST_LEVELS = 10_000;

/**
 * Says which call led to the conversation on a branch, or that none did (calls §8.4).
 *
 * @param id of the command
 * @throws E_COMMAND_INVALID if the conversation led to that call itself, what submitting throws
 */
export const linkConversation = async (
  home: LinkTarget,
  projection: Projection,
  { history, branchId }: BranchRef,
  parent: CallAddress | null,
  { by, notes }: Corrector,
  id: string,
): Promise<LinkedConversation> => {
  await home.catchUp();
  const known = await projection.read((rows) => {
    if (parent !== null) refuseCircle(rows, { history, branchId }, parent);
    return listCallLinks(rows, history).find((link) => link.branchId === branchId);
  });
  if (known?.why === 'assigned' && isSame(known.parent, parent)) return { parent, before: true };
  await home.submit({
    ...{ id, history, branchId, by, notes },
    steps: [{ op: 'link', parent: parent && { ...parent } }],
  });
  return { parent, before: false };
};

const isSame = (a: CallLink['parent'], b: CallLink['parent']): boolean =>
  a === null || b === null ? a === b : a.history === b.history && a.attemptId === b.attemptId;

/** A conversation that led to another one cannot have been started by it. @throws E_COMMAND_INVALID */
export const refuseCircle = (
  rows: RowReader,
  child: { readonly history: string; readonly branchId: number },
  parent: CallAddress,
): void => {
  let above: CallAddress | null = parent;
  for (let level = 0; above !== null && level < MOST_LEVELS; level++) {
    const { history, branchId, attemptId }: CallAddress = above;
    const path = readAncestorPath(rows, history, branchId, readTipSeq(rows, history, branchId));
    const branches = path.map((segment) => segment.branchId).reverse();
    if (history === child.history && branches.includes(child.branchId))
      throw fail(
        'E_COMMAND_INVALID',
        level === 0
          ? `the call ${attemptId.slice(0, 200)} is of this conversation itself`
          : `this conversation led to the call ${parent.attemptId.slice(0, 200)}: a circle`,
        { attempt: parent.attemptId },
      );
    const links = listCallLinks(rows, history);
    above =
      branches
        .map((each) => links.find((link) => link.branchId === each)?.parent ?? null)
        .find((found) => found !== null) ?? null;
  }
};
