import type { WideJson } from '@stemma/canonical';
import { isInTurn } from '@stemma/context-tree';
import { isStemmaError } from '@stemma/errors';
import type { BranchRef, Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { UnresolvedStep } from '@stemma/queries';

/**
 * Steps with what a sealed turn takes in place of what it refuses: a block there whose content is replaced is taken out, and
 * another one stands in its place. Only blocks of the position count; what an earlier step makes is open.
 *
 * @throws E_SEALED for a block whose place cannot be kept
 */
export const withSealedEdits = async (
  home: Pick<Home, 'read' | 'steering'>,
  branchRef: BranchRef,
  position: Position,
  steps: readonly UnresolvedStep[],
): Promise<readonly UnresolvedStep[]> => {
  const { tree } = await home.read.view(position);
  const edits = new Map<string, WideJson>();
  const rest: UnresolvedStep[] = [];
  for (const step of steps) {
    const { id, content } = contentReplaced(step);
    const index = id === undefined ? undefined : tree.indexOf(id);
    const isSealed = index !== undefined && isInTurn(tree, index);
    if (id === undefined || content === undefined || !isSealed) rest.push(step);
    else edits.set(id, content);
  }
  if (edits.size === 0) return steps;
  try {
    return [...(await home.steering.editSteps(branchRef, edits, position)), ...rest];
  } catch (error) {
    // A container is refused as the step says it.
    if (isStemmaError(error, 'E_PLACEMENT')) return steps;
    throw error;
  }
};

const contentReplaced = (
  step: UnresolvedStep,
): { readonly id?: string; readonly content?: WideJson | undefined } => {
  const { op, id, set } = step;
  if (op !== 'replace' || typeof id !== 'string' || typeof set !== 'object' || set === null) return {};
  const { content, ...others } = set as Readonly<Record<string, WideJson>>;
  return Object.keys(others).length > 0 ? {} : { id: id.replace(/^#/, ''), content };
};
