import type { ContentRef } from '@stemma/canonical';
import { isStemmaError, type ErrorCode } from '@stemma/errors';
import type { ContentStore } from './port.ts';

/** A content whose bytes do not match its hash, or that cannot be read. */
export type ContentProblem = { readonly ref: ContentRef; readonly code: ErrorCode; readonly message: string };

/** The problem of each stored content, or null. Reads them all, one at a time in memory. */
export async function* verifyContents(
  store: ContentStore,
): AsyncGenerator<{ readonly ref: ContentRef; readonly problem: ContentProblem | null }> {
  for await (const ref of store.list()) yield { ref, problem: await problemOf(store, ref) };
}

const problemOf = async (store: ContentStore, ref: ContentRef): Promise<ContentProblem | null> => {
  try {
    await store.get(ref);
    return null;
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    return { ref, code: error.code, message: error.message };
  }
};
