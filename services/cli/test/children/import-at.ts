import { openHome } from '@stemma/home';
import { importFile } from '../../src/import-file.ts';

/*
 * Imports files into a home whose clock stands still, so that frames are the same to the last byte however often and by
 * whomever they are imported. Arguments: the home, the address of its log (empty: in the home), the files.
 */
const [directory = '', log = '', ...files] = process.argv.slice(2);
const home = await openHome({
  directory,
  create: true,
  clock: () => 1_700_000_000_000_000_000n,
  ...(log === '' ? {} : { log }),
});
const { signal } = new AbortController();
for (const file of files) await importFile(home, file, { format: 'auto', name: null, signal });
// Rows follow reads.
await home.histories();
await home.close();
