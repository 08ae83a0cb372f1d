import { removeScratchFolders } from '@stemma/operations';
import { openKeyring, type Keyring } from '@stemma/privacy';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The keys of a home. With a key goes what may hold parts of its history and is of no use: what was left, or is damaged. */
export const openHomeKeyring = (directory: string): Keyring => {
  const keyring = openKeyring(directory);
  return {
    ...keyring,
    destroy: (history, erasure) => {
      keyring.destroy(history, erasure);
      removeScratchFolders(directory);
      for (const file of namesIn(join(directory, 'calls')))
        if (file.endsWith('.damaged')) rmSync(join(directory, 'calls', file), { force: true });
    },
  };
};

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};
