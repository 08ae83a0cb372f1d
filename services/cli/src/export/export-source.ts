import { isStemmaError } from '@stemma/errors';
import type { ExportedStep, ExportSource } from '@stemma/exporters';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { titleOf } from '../titles.ts';

/**
 * A history as exporters read it; nothing of it is read before they ask.
 *
 * @param only the branch that is exported; null: all of them
 */
export const exportSource = async (
  home: Home,
  history: string,
  only: BranchRef | null,
): Promise<ExportSource> => {
  const { import: file } = await home.read.history(history);
  const branches = await home.branches.tree(history);
  const counts = await home.calls.counts(history);
  return {
    history,
    name: await titleOf(home, history),
    format: file?.format ?? null,
    version: file?.version ?? null,
    branches: branches
      .filter(({ branchId }) => only === null || branchId === only.branchId)
      .map(({ branchId, name }) => ({
        branchId,
        name: name ?? (branchId === 0 ? 'main' : String(branchId)),
        isAlone: only !== null,
        steps: () => stepsOf(home, branchRefOf(history, branchId)),
      })),
    hasCalls: counts.length > 0,
    body: (attemptId, which) => bodyOf(home, history, attemptId, which),
  };
};

async function* stepsOf(home: Home, branchRef: BranchRef): AsyncGenerator<ExportedStep> {
  for await (const { attempts, ...step } of home.calls.shown(branchRef))
    yield { ...step, calls: attempts.filter(({ reassignedTo }) => reassignedTo === null) };
}

/** The bytes of a body on the wire; null: they are not kept. */
export const bodyOf = async (
  home: Home,
  history: string,
  attemptId: string,
  which: 'request' | 'response',
): Promise<Uint8Array | null> => {
  try {
    return await home.calls.body(history, attemptId, which);
  } catch (error) {
    if (isStemmaError(error, 'E_CALL_BODY_NOT_KEPT')) return null;
    throw error;
  }
};
