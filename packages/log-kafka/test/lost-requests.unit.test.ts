import Cluster from 'kafkajs/src/cluster/index.js';
import { afterEach, expect, it, vi } from 'vitest';
import { openClient } from '../src/protocol/client.ts';

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
  const client = openClient({ brokers: ['127.0.0.1:1'], topic: 'none', deadline: 0 });
  for (const tried of [1, 2]) {
    const ended = client.offset(0, 'end').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(60_000);
    const hangs = Promise.resolve('hangs');
    expect(await Promise.race([ended, hangs])).toMatchObject({ code: 'E_BROKERS_UNREACHABLE' });
    expect(clusters.size).toBe(tried);
  }
  await client.close();
});
