import { describeEventLog } from '../src/contract/describe-event-log.ts';
import { openMemoryLog } from '../src/index.ts';

describeEventLog('the memory log', {
  create: (partitions) => openMemoryLog({ partitions }),
  destroy: async () => undefined,
});
