import { isStemmaError } from '@stemma/errors';
import { catchUpWithNamed, findServedBranch, findServedPosition, readOf } from '@stemma/queries';
import type { HomeServices } from './home-services.ts';
import type { Home } from './home.ts';

/** How a home finds what people name. */
export const openFinding = ({ projection, keyring }: HomeServices): Pick<Home, 'find' | 'position'> => ({
  find: async (given) => {
    // Names are composed; what a system gives may not be.
    const name = given.normalize('NFC');
    try {
      await catchUpWithNamed(projection, name);
      return await projection.read((rows) => findServedBranch(rows, name));
    } catch (error) {
      // The keyring also knows who had it erased, and why; or what is in the place of its key.
      if (isStemmaError(error, 'E_HISTORY_ERASED'))
        throw keyring.erasureOf(String(error.detail['history'])) ?? error;
      if (isStemmaError(error, 'E_HISTORY_SEALED'))
        throw keyring.sealedAs(String(error.detail['history'])) ?? error;
      throw error;
    }
  },
  position: (branchRef, ref = '') =>
    readOf(projection, branchRef.history, (rows) => findServedPosition(rows, branchRef, ref)),
});
