import { fail } from '@stemma/errors';
import { parseCommand } from '@stemma/history';
import { branchRefOf, type Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { UnresolvedStep } from '@stemma/queries';

/** Steps that only add something, whatever there is, or name what is no node. */
const NAMES_NO_NODE = new Set(['inject', 'config', 'annotate', 'save']);

/**
 * Refuses steps that a fork at a position could not take, before there is one: what is no step, and nodes that are not
 * there.
 *
 * @throws E_COMMAND_INVALID, E_NODE_NOT_FOUND, what resolving a reference throws
 */
export const refuseUnfit = async (
  home: Pick<Home, 'branches' | 'view'>,
  position: Position,
  steps: readonly UnresolvedStep[],
): Promise<void> => {
  const { history, branchId } = position;
  const branchRef = branchRefOf(history, branchId);
  const resolved = await home.branches.resolveSteps(branchRef, 'none', steps);
  parseCommand({ id: 'none', history, branchId, by: { actor: 'nobody' }, steps: [...resolved.steps] });
  const { tree } = await home.view(position);
  const brought = new Set<unknown>();
  for (const step of steps) {
    const { node } = step as { readonly node?: { readonly id?: unknown } };
    if (step.op === 'insert') brought.add(node?.id);
    const id = step['id'];
    if (NAMES_NO_NODE.has(step.op) || step.op === 'insert' || typeof id !== 'string') continue;
    if (tree.indexOf(id) === undefined && !brought.has(id))
      throw fail('E_NODE_NOT_FOUND', `${position.label} has no node ${JSON.stringify(id.slice(0, 600))}`, {
        id,
      });
  }
};
