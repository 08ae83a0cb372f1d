import { isStemmaError } from '@stemma/errors';
import { openHome } from '@stemma/home';
import { importFile } from '../../src/import-file.ts';

/*
 * Imports files into a home whose clock stands still, so that frames are the same to the last byte however often and by
 * whomever they are imported. Arguments: the home, the address of its log and of its rows (empty: in the home), the files.
 */
const [directory = '', log = '', rows = '', ...files] = process.argv.slice(2);
const home = await openHome({
  directory,
  create: true,
  clock: () => 1_700_000_000_000_000_000n,
  ...(log === '' ? {} : { log }),
  ...(rows === '' ? {} : { rows }),
});
const { signal } = new AbortController();
/** An external projection may be behind: what is imported again is imported once. */
const insistently = async (work: () => Promise<unknown>): Promise<unknown> => {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!isStemmaError(error, 'E_ROWS_BEHIND')) throw error;
    }
};
for (const file of files)
  await insistently(() => importFile(home, file, { format: 'auto', name: null, signal }));
// Rows follow reads.
await insistently(() => home.read.histories());
await home.close();
