import { sealRecord } from '@stemma/log';
import { openEmbeddedLog } from '../../src/index.ts';

/* Opens each log, appends one entry to it, and says which it has and what was said meanwhile. */
for (const directory of process.argv.slice(2)) {
  const said: string[] = [];
  const log = await openEmbeddedLog({ directory, say: (sentence) => said.push(sentence) });
  await log.append(0, [{ key: 'b', bytes: sealRecord(Buffer.from('what b wrote')) }]);
  const { records } = await log.read(0, 0);
  await log.close();
  console.log(JSON.stringify({ keys: records.map(({ key }) => key).slice(1), said }));
}
