import Cluster from 'kafkajs/src/cluster/index.js';
import { afterEach, expect, it, vi } from 'vitest';
import { openClient } from '../src/protocol/client.ts';
import { openTopic } from '../src/protocol/topic.ts';
import { readKafkaSecurity } from '../src/index.ts';

const PLAIN = readKafkaSecurity({});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('a request of which neither an answer nor an error comes is given up, and the next one takes new connections', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const clusters = new Set<unknown>();
  vi.spyOn(Cluster.prototype, 'connect').mockImplementation(function (this: unknown) {
    clusters.add(this);
    return new Promise(() => undefined);
  });
  const client = openClient({ brokers: ['127.0.0.1:1'], topic: 'none', deadline: 0, security: PLAIN });
  for (const tried of [1, 2]) {
    const ended = client.offset(0, 'end').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(60_000);
    const hangs = Promise.resolve('hangs');
    expect(await Promise.race([ended, hangs])).toMatchObject({ code: 'E_BROKERS_UNREACHABLE' });
    expect(clusters.size).toBe(tried);
  }
  await client.close();
});

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

it('a poll that never ends is given up', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(Cluster.prototype, 'connect').mockResolvedValue();
  vi.spyOn(Cluster.prototype, 'addTargetTopic').mockResolvedValue();
  vi.spyOn(Cluster.prototype, 'disconnect').mockImplementation(never);
  vi.spyOn(Cluster.prototype, 'findTopicPartitionMetadata').mockReturnValue([
    { partitionId: 0, leader: 1, isr: [1] },
  ]);
  vi.spyOn(Cluster.prototype, 'findBroker').mockImplementation(never);
  const client = openClient({ brokers: ['127.0.0.1:1'], topic: 'none', deadline: 0, security: PLAIN });
  expect(await client.leaders([0])).toEqual([[0]]);
  const ended = client.poll([{ partition: 0, from: 0, maxBytes: 1 }], 5_000).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await Promise.race([ended, Promise.resolve('hangs')])).toBeInstanceOf(Error);
});

it.each(['connect', 'metadata'] as const)(
  'of a question about a topic whose %s never ends it is said that brokers cannot be reached, and the next try takes new connections',
  async (step) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const clusters = new Set<unknown>();
    vi.spyOn(Cluster.prototype, 'connect').mockImplementation(function (this: unknown) {
      clusters.add(this);
      return step === 'connect' ? never() : Promise.resolve();
    });
    vi.spyOn(Cluster.prototype, 'metadata').mockImplementation(never);
    vi.spyOn(Cluster.prototype, 'disconnect').mockImplementation(never);
    const asked = { brokers: ['127.0.0.1:1'], topic: 'none', deadline: 0, security: PLAIN };
    for (const tried of [1, 2]) {
      const ended = openTopic(asked).catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await Promise.race([ended, Promise.resolve('hangs')])).toMatchObject({
        code: 'E_BROKERS_UNREACHABLE',
      });
      expect(clusters.size).toBe(tried);
    }
  },
);
