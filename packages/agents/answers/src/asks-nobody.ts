import { fail } from '@stemma/errors';

/** For questions that may only read: they are answered from recorded vectors, and nobody is paid for another one. */
export const ASKS_NOBODY = {
  allow: (spec: string): never => {
    throw fail(
      'E_MIND_NOT_ALLOWED',
      `a search over HTTP asks no embedder, and there is no recorded vector of this text by ${spec}`,
    );
  },
};
