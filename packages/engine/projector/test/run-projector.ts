/** A projector in a process of its own, to be killed. Arguments: log, rows, what to do ('follow' or 'rebuild'). */
import { openMemoryContents } from '@stemma/contents';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';
import { openProjector } from '../src/index.ts';

const [logs = '', rows = '', what = ''] = process.argv.slice(2);
const log = await openEmbeddedLog({ directory: logs });
const store = openLmdbRowStore({ directory: rows });
const projector = openProjector({
  eager: 'all',
  log,
  contents: openMemoryContents(),
  store,
  limits: { frames: 5 },
});
process.stdout.write('ready\n');
await projector.catchUp();
if (what === 'follow') await projector.follow(new AbortController().signal);
else for (;;) await projector.rebuild();
