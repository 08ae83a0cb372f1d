import { writeSync } from 'node:fs';
import { dealPartitions } from '../../src/index.ts';

/* Takes a part of a log's partitions until it is killed, and says which, a line each time. Arguments: brokers, prefix, group. */
const [brokers = '', prefix = '', group = ''] = process.argv.slice(2);
await dealPartitions({
  brokers: brokers.split(','),
  prefix,
  group,
  signal: new AbortController().signal,
  assigned: (partitions) => void writeSync(1, `${partitions.join(' ')}\n`),
});
