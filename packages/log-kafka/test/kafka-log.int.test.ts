import { findBroker } from '@stemma/test-kit';
import { describeEventLog } from '@stemma/log/contract';
import { describe, it } from 'vitest';
import { randomUUID } from 'node:crypto';
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
    again: () => openKafkaLog({ brokers, prefix, create: false }),
    destroy: async () => undefined,
  });
}
