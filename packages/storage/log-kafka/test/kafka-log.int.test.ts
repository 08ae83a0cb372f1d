import { describeEventLog } from '@stemma/log/contract';
import { findBroker } from '@stemma/test-kit';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'vitest';
import { openKafkaLog } from '../src/index.ts';

const found = await findBroker();

if ('skip' in found)
  describe('the log on Kafka', () => it('is an event log', ({ skip }) => skip(found.skip)));
else {
  const { brokers } = found;
  let prefix = '';
  describeEventLog('the log on Kafka', {
    create: (partitions) => {
      prefix = `contract-${randomUUID()}`;
      return openKafkaLog({ brokers, prefix, partitions });
    },
    reopen: () => openKafkaLog({ brokers, prefix, create: false }),
    destroy: async () => undefined,
  });
}
