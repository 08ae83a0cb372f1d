import { openEmbeddedLog } from '../../src/index.ts';

/* A process whose second sync fails. */
const [directory = ''] = process.argv.slice(2);
const log = await openEmbeddedLog({ directory, failAtSync: 2 });
await log.append(0, [{ key: 'k', bytes: Buffer.from('lost') }]);
await new Promise((resolve) => setTimeout(resolve, 600_000));
