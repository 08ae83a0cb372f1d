import { expect, it, vi } from 'vitest';
import type { FetchRequest, KafkaClient } from '../src/protocol/client.ts';
import type { FetchResponse } from '../src/protocol/fetch-response.ts';
import { openWatcher } from '../src/watcher.ts';
import { batchOf } from './batches.ts';

/** A client of a broker that holds every poll back until the test answers it. */
const heldPolls = () => {
  const polls: {
    readonly partitions: readonly number[];
    readonly answer: (of: ReadonlyMap<number, FetchResponse>) => void;
  }[] = [];
  const client: Pick<KafkaClient, 'epoch' | 'leaders' | 'poll' | 'close'> = {
    epoch: () => 0,
    leaders: async (partitions) => [partitions],
    poll: (fetches: readonly FetchRequest[]) =>
      new Promise((answer) => polls.push({ partitions: fetches.map(({ partition }) => partition), answer })),
    close: async () => undefined,
  };
  const poll = async (n: number) => {
    await vi.waitFor(() => expect(polls.length).toBeGreaterThan(n), { timeout: 5_000, interval: 1 });
    return polls[n] as (typeof polls)[number];
  };
  return { client, poll };
};

const recordAt = (partition: number, offset: number): ReadonlyMap<number, FetchResponse> =>
  new Map([
    [
      partition,
      { error: 0, end: offset + 1, start: 0, batches: batchOf(offset, [{ key: 'h', value: 'record' }]) },
    ],
  ]);

it('the poll after a partition was woken asks for it too, though its reader does not wait again yet', async () => {
  const { client, poll } = heldPolls();
  const watcher = openWatcher(() => client);
  const { signal } = new AbortController();
  const woken = watcher.wait(0, 5, signal);
  const others = watcher.wait(1, 0, signal);
  (await poll(0)).answer(new Map());
  expect((await poll(1)).partitions).toEqual([0, 1]);
  (await poll(1)).answer(recordAt(0, 5));
  await woken;
  expect((await poll(2)).partitions).toEqual([0, 1]);
  // Its reader comes back to find that the next record is there already.
  (await poll(2)).answer(recordAt(0, 6));
  await poll(3);
  await watcher.wait(0, 6, signal);
  await watcher.close();
  await others;
});

it('a partition that nobody has waited for lately is polled no more', async () => {
  const { client, poll } = heldPolls();
  const watcher = openWatcher(() => client, { kept: 0 });
  const { signal } = new AbortController();
  const woken = watcher.wait(0, 5, signal);
  const others = watcher.wait(1, 0, signal);
  (await poll(0)).answer(recordAt(0, 5));
  await woken;
  await vi.waitFor(async () => expect((await poll(1)).partitions).toEqual([1]), { timeout: 5_000 });
  await watcher.close();
  await others;
});
