import { fail } from '@stemma/errors';
import { openMemoryLog, partitionOf, type EventLog, type LogRecord, type MemoryLog } from '@stemma/log';
import { openProjector, type Projector } from '@stemma/projector';
import { openMemoryRowStore } from '@stemma/row-store';
import { expect, test } from 'vitest';
import { followFrom, followLog, type EventBatch } from '../src/follow.ts';
import { ALPHA } from './recorded/keeps-answers.ts';
import { recordedHistories } from './recorded/recorded-histories.ts';

const PARTITION = partitionOf(ALPHA, 2);

/** A log that grows by one recorded frame at a time, and its rows. */
const growing = async (): Promise<{ log: MemoryLog; projector: Projector; grow: () => Promise<unknown> }> => {
  const { log: source } = await recordedHistories();
  const { records } = await source.read(PARTITION, 1);
  const frames = records.filter(({ key }) => key === ALPHA);
  const log = await openMemoryLog({ partitions: 2 });
  const contents = {
    get: (): Promise<never> => Promise.reject(fail('E_CONTENT_MISSING', 'no content is kept')),
  };
  const projector = openProjector({ log, contents, store: openMemoryRowStore() });
  let next = 0;
  const grow = (): Promise<unknown> =>
    log.append(PARTITION, [{ ...(frames[next++] as LogRecord), key: ALPHA }]);
  return { log, projector, grow };
};

/** The log, of which each wait is seen: where it begins, and its signal. */
const watched = (
  log: EventLog,
  seen: (partition: number, from: number, signal: AbortSignal) => void,
): EventLog => ({
  ...log,
  wait: (partition, from, signal) => {
    seen(partition, from, signal);
    return log.wait(partition, from, signal);
  },
});
const seqsIn = async (batches: AsyncIterable<EventBatch>): Promise<readonly number[]> => {
  const seqs = new Set<number>();
  for await (const { events } of batches) for (const { seq } of events) seqs.add(seq);
  return [...seqs];
};

test('a frame that is appended while others are read comes in the next round', async () => {
  const { log, projector, grow } = await growing();
  for (let i = 0; i < 3; i++) await grow();
  const stop = new AbortController();
  const atEnd = new Set<number>();
  const stopping = watched(log, (partition, from) => {
    atEnd.delete(partition);
    if (from === log.records(partition).length) atEnd.add(partition);
    if (atEnd.size === 2) stop.abort();
  });
  let left = 1;
  const projection: Projector = {
    ...projector,
    checkpoint: async (partition) => {
      const at = await projector.checkpoint(partition);
      if (partition === PARTITION && left-- > 0) await grow();
      return at;
    },
  };
  const batches = followLog(stopping, projection, { signal: stop.signal, after: `${log.id}:0,0` });
  expect(await seqsIn(batches)).toEqual([0, 1, 2, 3]);
});

test('a frame that another reader takes into the rows before the wait begins comes at once', async () => {
  const { log, projector, grow } = await growing();
  const stop = new AbortController();
  let isGrown = false;
  const waits: number[] = [];
  const projection: Projector = {
    ...projector,
    checkpoint: async (partition) => {
      const at = await projector.checkpoint(partition);
      if (partition === PARTITION && !isGrown) {
        isGrown = true;
        await grow();
        await projector.catchUp(partition);
      }
      return at;
    },
  };
  const batches = followLog(
    watched(log, (partition, from) => partition === PARTITION && waits.push(from)),
    projection,
    { signal: stop.signal },
  );
  await batches.next();
  expect((await batches.next()).value).toMatchObject({ events: [{ seq: 0 }] });
  expect(waits.every((from) => from === 1)).toBe(true);
  stop.abort();
  await batches.next();
});

test('one history is followed likewise, from a frame on', async () => {
  const { log, projector, grow } = await growing();
  const stop = new AbortController();
  let grown = false;
  const projection: Projector = {
    ...projector,
    checkpoint: async (partition) => {
      if (!grown) {
        grown = true;
        await grow();
        await projector.catchUp(partition);
      }
      return projector.checkpoint(partition);
    },
  };
  const batches = followFrom(log, projection, { history: ALPHA, from: 0, signal: stop.signal });
  expect((await batches.next()).value).toMatchObject({ events: [{ seq: 0 }] });
  stop.abort();
  await batches.next();
});

test('whoever reads a history at the first batch sees what lies before its cursor', async () => {
  const { log, projector, grow } = await growing();
  await grow();
  const stop = new AbortController();
  const batches = followLog(log, projector, { signal: stop.signal, history: ALPHA });
  expect((await batches.next()).value).toMatchObject({ events: [] });
  expect((await projector.checkpoint(PARTITION))?.cursor.offset).toBe(await log.end(PARTITION));
  stop.abort();
  await batches.next();
});

test('when one partition has something new, no wait for another is left behind', async () => {
  const { log, projector, grow } = await growing();
  const stop = new AbortController();
  const signals: AbortSignal[] = [];
  const batches = followLog(
    watched(log, (_partition, _from, signal) => signals.push(signal)),
    projector,
    { signal: stop.signal },
  );
  expect((await batches.next()).value).toMatchObject({ events: [] });
  const next = batches.next();
  await expect.poll(() => signals.length).toBe(2);
  await grow();
  expect((await next).value).toMatchObject({ events: [{ seq: 0 }] });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  stop.abort();
  await batches.next();
});

test('behind damage that closes a partition nothing is waited for but what is still to come', async () => {
  const { log, projector, grow } = await growing();
  await grow();
  await log.append(PARTITION, [{ key: 'nobody', bytes: Uint8Array.of(1) }]);
  const records = log.records(PARTITION);
  records[2] = { ...(records[2] as LogRecord), keyVouched: false };
  await grow();
  const stop = new AbortController();
  const waits = new Map<number, number>();
  const stopping = watched(log, (partition, from) => {
    waits.set(partition, from);
    stop.abort();
  });
  expect(
    await seqsIn(followLog(stopping, projector, { signal: stop.signal, after: `${log.id}:0,0` })),
  ).toEqual([0]);
  expect(waits.get(PARTITION)).toBe(4);
});

test.each(['-1,0', '0,0.5', 'x,0'])(
  'a cursor with offsets %s is refused before the log is asked for them',
  async (offsets) => {
    const { log, projector } = await growing();
    const after = `${log.id}:${offsets}`;
    await expect(
      followLog(log, projector, { signal: AbortSignal.timeout(1), after }).next(),
    ).rejects.toMatchObject({
      code: 'E_STREAM_GONE',
      message: expect.stringContaining('cannot resume at this cursor') as string,
    });
  },
);
