import { isStemmaError } from '@stemma/errors';
import type { ExportedStep, ExportSource, Losses } from '@stemma/exporters';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { titleOf } from '../titles.ts';

/** What an export reads, and what of it no step of a branch has. */
type ReadSource = {
  readonly source: ExportSource;
  /** Adds what is left out, by name, when the steps were read. */
  readonly addLeftOut: (lost: Losses) => Promise<void>;
};

/**
 * A history as exporters read it; nothing of it is read before they ask.
 *
 * @param only the branch that is exported; null: all of them
 */
export const exportSource = async (
  home: Home,
  history: string,
  only: BranchRef | null,
): Promise<ReadSource> => {
  const { import: file } = await home.read.history(history);
  const branches = await home.branches.tree(history);
  const counts = await home.calls.counts(history);
  const read = new Set<string>();
  const source: ExportSource = {
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
        steps: () => stepsOf(home, branchRefOf(history, branchId), read),
      })),
    hasCalls: counts.length > 0,
    body: (attemptId, which) => bodyOf(home, history, attemptId, which),
  };
  return {
    source,
    async addLeftOut(lost) {
      // Of a branch alone, calls before it are its own, too.
      const all = only === null ? counts.reduce((sum, { calls }) => sum + calls, 0) : read.size;
      lost.add('call between snapshots', all - read.size);
      lost.add('call without messages', await countProviderCalls(home, source));
    },
  };
};

async function* stepsOf(home: Home, branchRef: BranchRef, read: Set<string>): AsyncGenerator<ExportedStep> {
  for await (const { attempts, ...step } of home.calls.shown(branchRef)) {
    const calls = attempts.filter(({ reassignedTo }) => reassignedTo === null);
    for (const { attemptId } of calls) read.add(attemptId);
    yield { ...step, calls };
  }
}

/** Calls of a provider's API that show no messages: embeddings, files. */
const countProviderCalls = async (home: Home, { history, branches }: ExportSource): Promise<number> => {
  const found = new Set<string>();
  for (const { branchId } of branches)
    for (let from: number | null = 0; from !== null;) {
      const page = await home.calls.providerCalls(branchRefOf(history, branchId), { from, limit: PAGE });
      for (const { attemptId } of page.calls) found.add(attemptId);
      from = page.next;
    }
  return found.size;
};

const PAGE = 1_000;

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
