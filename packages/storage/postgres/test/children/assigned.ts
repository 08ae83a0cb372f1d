import { errorToJson } from '@stemma/errors';
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAssignment, openDatabase } from '../../src/index.ts';

/* Holds a share of six partitions until its session is lost, and says which, a line each look. Arguments: database, group. */
const [url = '', group = ''] = process.argv.slice(2);
const assignment = await openAssignment(openDatabase(url), { group, partitions: 6, silence: 3_000 });
try {
  for (;;) {
    writeSync(1, `${assignment.partitions().join(' ')}\n`);
    await sleep(200);
    await assignment.renew();
  }
} catch (error) {
  writeSync(1, `${JSON.stringify(errorToJson(error))}\n`);
  await assignment.close();
}
