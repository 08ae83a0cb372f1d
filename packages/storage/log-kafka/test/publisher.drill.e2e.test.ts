import { randomUUID } from 'node:crypto';
import { isStemmaError } from '@stemma/errors';
import { partitionOf } from '@stemma/log';
import { findBroker, missingTools, readTopic, sized } from '@stemma/test-kit';
import { describe, expect, it, test } from 'vitest';
import { openPublisher, type OutRecord } from '../src/index.ts';
import { ownBrokers, until } from './fault-kit.ts';

const found = await findBroker();
const missing = missingTools();
const record = (key: string, n: number): OutRecord => ({
  key,
  value: JSON.stringify({ n, text: 'x'.repeat(n % 7 === 0 ? 40_000 : 40) }),
  headers: { n: String(n), type: 'Näme' },
});

const read = async (brokers: readonly string[], topic: string) =>
  (await readTopic(brokers, topic)).map(({ partition, key, headers }) => ({
    partition,
    key,
    n: Number(headers['n']),
    type: headers['type'],
  }));

describe('a publisher', () => {
  it('writes records with their headers, equal keys in one partition and in order', async ({ skip }) => {
    if ('skip' in found) return skip(found.skip);
    const { brokers } = found;
    const topic = `out-${randomUUID()}`;
    const publisher = await openPublisher({ brokers, topic, partitions: 3 });
    const keys = ['ha', 'hb', 'hc', 'hd'];
    const records = Array.from({ length: 400 }, (_, n) => record(keys[n % 4] ?? '', n));
    await Promise.all([publisher.send(records.slice(0, 200)), publisher.send(records.slice(200))]);
    await publisher.close();
    const seen = await read(brokers, topic);
    expect(seen.length).toBe(400);
    for (const [i, key] of keys.entries()) {
      const mine = seen.filter((each) => each.key === key);
      expect(mine.map(({ n }) => n)).toEqual(Array.from({ length: 100 }, (_, k) => k * 4 + i));
      expect(new Set(mine.map(({ partition }) => partition))).toEqual(new Set([partitionOf(key, 3)]));
      expect(new Set(mine.map(({ type }) => type))).toEqual(new Set(['Näme']));
    }
    const again = await openPublisher({ brokers, topic });
    expect(again.partitions).toBe(3);
    await again.close();
    await expect(openPublisher({ brokers, topic, partitions: 2 })).rejects.toThrow('3 partitions');
    await expect(openPublisher({ brokers, topic: 'a.frames' })).rejects.toThrow('the topic of a log');
  });
});

test('after a broker is killed, messages that a publisher sends again arrive in order, with repeats and without a gap', async ({
  skip,
}) => {
  if (missing !== undefined) return skip(missing);
  await using own = await ownBrokers(1);
  const [broker] = own.brokers;
  const topic = 'out';
  const publisher = await openPublisher({ brokers: own.addresses, topic, partitions: 2, deadline: 2000 });
  let sent = 0;
  let going = true;
  const sending = (async () => {
    while (going) {
      const batch = Array.from({ length: 20 }, (_, i) => record('ha', sent + i));
      for (;;)
        try {
          await publisher.send(batch);
          break;
        } catch (error) {
          if (!isStemmaError(error, 'E_BROKERS_UNREACHABLE')) throw error;
        }
      sent += batch.length;
    }
  })();
  for (let kill = 0; kill < sized(1, 3); kill++) {
    const before = sent;
    await until('more', () => sent > before + 100);
    await broker?.stop('SIGKILL');
    await broker?.start();
  }
  going = false;
  await sending;
  await publisher.close();
  const seen = await read(own.addresses, topic);
  let next = 0;
  for (const { n } of seen) {
    expect(n).toBeLessThanOrEqual(next);
    next = Math.max(next, n + 1);
  }
  expect(next).toBe(sent);
}, 300_000);
