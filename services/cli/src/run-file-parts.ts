import { fail } from '@stemma/errors';
import { readRegularFile } from '@stemma/machine';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the inspector's build puts the page of an exported run. */
const FOLDER = fileURLToPath(new URL('../../inspector/dist/run-file', import.meta.url));

/** The script and the style sheet of an exported run. @throws E_IO if the inspector is not built */
export const runFileParts = (): { readonly script: string; readonly style: string } => ({
  script: read('run.js'),
  style: read('run.css'),
});

const read = (name: string): string => {
  const path = join(FOLDER, name);
  try {
    return readRegularFile(path).toString();
  } catch {
    throw fail('E_IO', 'the page of an exported run is not built: run `pnpm build`', { path });
  }
};
