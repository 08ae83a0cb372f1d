import { fail } from '@stemma/errors';
import { NODE_KIND } from '@stemma/context-tree';
import type { Step } from '@stemma/history';
import { threadBlocks } from '@stemma/importers';
import { defined } from '@stemma/values';
import type { BranchWriter, Placed } from './branch-writer.ts';
import { editSteps } from './edit-steps.ts';
import type { MessageEdit, OutgoingCall, SteeredHome } from './types.ts';

/**
 * Gives the draft of a branch the messages of a call, and changes them there as an observer does.
 *
 * @returns the indexes of the messages that the draft was given
 * @throws E_CALL_NOT_STEERED if the call has no message to change
 */
export const changeCall = async (
  { home, writer }: { readonly home: SteeredHome; readonly writer: BranchWriter },
  placed: Placed,
  call: OutgoingCall,
): Promise<readonly number[]> => {
  const { change } = call;
  if (change === undefined || change.edit === null) return [];
  const { brought } = await writer.write(placed, call, false);
  const { history, branchId } = placed.branch;
  const { actor, notes } = change.by;
  await home.submit({
    id: `${call.id}.change`,
    history,
    branchId,
    by: { actor },
    ...defined({ notes }),
    steps: [...(await stepsFor(home, placed, change.edit))],
  });
  return brought;
};

const stepsFor = async (
  home: SteeredHome,
  { branch }: Placed,
  edit: MessageEdit,
): Promise<readonly Step[]> => {
  if (edit.what === 'inject') return [{ op: 'inject', text: edit.text, role: edit.role }];
  const position = await home.position(branch);
  const { tree, payloads, thread } = await home.view(position);
  const block = threadBlocks(tree, payloads, thread).findLast(
    ({ id, role }) =>
      role !== null && CHANGED.has(role) && tree.kinds[tree.indexOf(id) ?? -1] === NODE_KIND.block,
  );
  if (block === undefined)
    throw fail(
      'E_CALL_NOT_STEERED',
      'the call has no message of a user or a tool whose content could be another',
    );
  return editSteps(home, branch, new Map([[block.id, edit.content]]), position);
};

/** Whose messages are changed. */
const CHANGED: ReadonlySet<string> = new Set(['user', 'tool', 'function']);
