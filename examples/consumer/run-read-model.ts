import { openLogSource } from '@stemma/home';
import { openProjector } from '@stemma/projector';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';
import { join } from 'node:path';
import toolResults, { TOOL_RESULTS } from './tool-results.ts';

/*
 * Folds a log with a read model of one's own and prints its rows. `snapshots` is folded too: by its rows the projector
 * finds out whether a frame is true. Rows stand in `HOME/example`; run again, it reads on from where it stood.
 * Surroundings: STEMMA_HOME, STEMMA_LOG.
 */
const { STEMMA_HOME: directory = '.stemma', STEMMA_LOG: log } = process.env;
const source = await openLogSource({ directory, ...(log && { log }) });
const store = openLmdbRowStore({ directory: join(directory, 'example') });
const projector = openProjector({ ...source, store, models: [toolResults], group: 'example' });
await projector.catchUp();
await (
  await projector.generation()
).scan(async (scan) => {
  for await (const { key, value } of scan.entries(TOOL_RESULTS)) {
    const [history, branchId, cycle] = key;
    const [results, characters] = value;
    console.log(JSON.stringify({ history, branchId, cycle, results, characters }));
  }
});
await store.close();
await source.close();
