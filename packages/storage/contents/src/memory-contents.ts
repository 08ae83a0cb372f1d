import { compareCodePoints, ContentRef, sha256Hex } from '@stemma/canonical';
import { missingContent, refuseTooLarge, verifiedContent } from './checks.ts';
import type { ContentStore } from './port.ts';

/** A memory store whose contents tests can read and change, by hash. */
export type MemoryContents = ContentStore & { readonly stored: Map<string, Uint8Array> };

/** Contents in memory, for tests. They are lost when the process ends. */
export const openMemoryContents = (): MemoryContents => {
  const stored = new Map<string, Uint8Array>();
  return {
    stored,
    put: async (bytes) => {
      refuseTooLarge(bytes.length);
      const ref = new ContentRef(sha256Hex(bytes), bytes.length);
      const known = stored.get(ref.sha256);
      if (known) verifiedContent(ref, known);
      else stored.set(ref.sha256, new Uint8Array(bytes));
      return ref;
    },
    get: async (ref) => {
      const bytes = stored.get(ref.sha256);
      if (!bytes) throw missingContent(ref);
      return new Uint8Array(verifiedContent(ref, bytes));
    },
    missing: async (refs) => refs.filter(({ sha256, size }) => stored.get(sha256)?.length !== size),
    async *list() {
      for (const hash of [...stored.keys()].sort(compareCodePoints)) {
        yield new ContentRef(hash, stored.get(hash)?.length ?? 0);
      }
    },
    close: async () => undefined,
  };
};
