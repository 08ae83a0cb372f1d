import { describeEventLog } from '@stemma/log/contract';
import { engineAnswers, removeContainer, startContainerBroker } from '@stemma/test-kit';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { openKafkaLog } from '../src/index.ts';

// Pulls the official image unless KAFKA_IMAGE names another: not where nobody asked for containers.
const skip = process.env['STEMMA_CONTAINERS'] !== 'yes' || !(await engineAnswers());

if (skip)
  describe('the log on a broker in a container', () =>
    it('is an event log', (test) =>
      test.skip(
        process.env['STEMMA_CONTAINERS_SKIP'] ?? 'no Docker engine with images: STEMMA_CONTAINERS=yes',
      )));
else {
  let broker: Awaited<ReturnType<typeof startContainerBroker>>;
  beforeAll(async () => {
    broker = await startContainerBroker();
  }, 600_000);
  afterAll(() => removeContainer(broker.container), 600_000);
  let prefix = '';
  describeEventLog('the log on a broker in a container', {
    create: (partitions) => {
      prefix = `contract-${randomUUID()}`;
      return openKafkaLog({ brokers: [broker.address], prefix, partitions });
    },
    reopen: () => openKafkaLog({ brokers: [broker.address], prefix, create: false }),
    destroy: async () => undefined,
  });
}
