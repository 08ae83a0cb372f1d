import { removeScratchFolders } from '@stemma/operations';
import { openKeyring, type Keyring } from '@stemma/privacy';

/** The keys of a home. With a key goes what processes that were killed have left of its history. */
export const openHomeKeyring = (directory: string): Keyring => {
  const keyring = openKeyring(directory);
  return {
    ...keyring,
    destroy: (history, erasure) => {
      keyring.destroy(history, erasure);
      removeScratchFolders(directory);
    },
  };
};
