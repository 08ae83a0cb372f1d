import type { ContentRef } from '@stemma/canonical';
import { openMemoryContents } from '@stemma/contents';
import { isStemmaError } from '@stemma/errors';
import { encodeFrame, openMemoryLog, type EventLog } from '@stemma/log';
import { entriesOf, naiveHistory } from '@stemma/test-kit';
import { expect, it } from 'vitest';
import type { FramesAt } from '../src/frame-bytes.ts';
import { openPayloads, type Payloads } from '../src/payloads.ts';
import type { FrameAt } from '../src/recorded-frames.ts';

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => (isStemmaError(error) ? error.code : error),
  );

const naive = naiveHistory(() => undefined);
naive.run(0, [{ op: 'start', name: null }]);
for (let i = 0; i < 6; i++)
  naive.run(0, [{ op: 'insert', parent: '^ah', node: { nodeType: 'cb', offset: 0, content: `text ${i}` } }]);
const { frames } = naive;

type Opened = {
  readonly payloads: Payloads;
  readonly log: EventLog;
  /** The offsets that were read since the last look. */
  readonly reads: () => number[];
};

/** Frame n lies at offset n + 1: the log begins with a record of its own. */
const openedWith = async (
  more: { readonly maxBytes?: number; readonly frameAt?: FrameAt } = {},
): Promise<Opened> => {
  const log = await openMemoryLog();
  await log.append(0, entriesOf(frames));
  let reads: number[] = [];
  const counted: EventLog = {
    ...log,
    read: (partition, from, options) => {
      reads.push(from);
      return log.read(partition, from, options);
    },
  };
  const frameAt: FrameAt = (_, seq) => Promise.resolve(seq < frames.length ? seq + 1 : undefined);
  const framesAt: FramesAt = (_, from, count) =>
    Promise.resolve(
      new Map(frames.slice(from, from + count).map((__, i) => [from + i, from + i + 1] as const)),
    );
  return {
    log,
    payloads: openPayloads({ log: counted, contents: openMemoryContents(), frameAt, framesAt, ...more }),
    reads: () => {
      const found = reads;
      reads = [];
      return found;
    },
  };
};

it('events are those of the frame, read once; events requested only once are not kept', async () => {
  const { payloads, reads } = await openedWith();
  for (const [seq, { body }] of frames.entries())
    expect(await payloads.events('h', seq)).toEqual(body.events);
  expect(reads()).toEqual(frames.map((_, seq) => seq + 1));
  await payloads.events('h', 2);
  await payloads.events('h', 2, { once: true });
  expect(reads()).toEqual([]);
  payloads.clear();
  for (let i = 0; i < 2; i++) await payloads.events('h', 3, { once: true });
  expect(reads()).toEqual([4, 4]);
  for (let i = 0; i < 2; i++) await payloads.events('h', 3);
  expect(reads()).toEqual([4]);
});

it('events that the caller keeps are not read', async () => {
  const { payloads, reads } = await openedWith();
  const [, , { body } = frames[0]!] = frames;
  payloads.keep('h', 40, body.events, 100);
  expect(await payloads.events('h', 40)).toBe(body.events);
  expect(await codeOf(payloads.events('i', 40))).toBe('E_SNAPSHOT_NOT_FOUND');
  expect(reads()).toEqual([]);
});

it('the frames used longest ago are evicted when there is no room: each counts three times its bytes plus 1,024', async () => {
  const size = encodeFrame(frames[1]!.envelope, frames[1]!.body).bytes.length;
  const one = 3 * size + 1_024;
  for (const [maxBytes, kept] of [
    [one * 2, true],
    [one * 2 - 1, false],
  ] as const) {
    const { payloads, reads } = await openedWith({ maxBytes });
    payloads.keep('h', 1, frames[1]!.body.events, size);
    payloads.keep('h', 2, frames[2]!.body.events, size);
    await payloads.events('h', 1);
    expect(reads()).toEqual(kept ? [] : [2]);
  }
});

it('a frame counts its contents too: not all of them stay in memory because their frames are small', async () => {
  const long = naiveHistory(() => undefined);
  long.run(0, [{ op: 'start', name: null }]);
  const BYTES = 300_000;
  for (let i = 0; i < 6; i++)
    long.run(0, [
      { op: 'insert', parent: '^ah', node: { nodeType: 'cb', offset: 0, content: `${i}`.repeat(BYTES) } },
    ]);
  const log = await openMemoryLog();
  const stored = openMemoryContents();
  const encoded = long.frames.map(({ envelope, body }) => encodeFrame(envelope, body));
  for (const { contents } of encoded) for (const { bytes } of contents) await stored.put(bytes);
  await log.append(0, entriesOf(long.frames));
  let read = 0;
  const contents = {
    get: (ref: ContentRef) => {
      read++;
      return stored.get(ref);
    },
  };
  const frameAt: FrameAt = (_, seq) => Promise.resolve(seq + 1);
  const framesAt: FramesAt = () => Promise.resolve(new Map());
  const payloads = openPayloads({ log, contents, frameAt, framesAt, maxBytes: BYTES * 3 });
  for (let round = 0; round < 2; round++) for (let seq = 1; seq <= 6; seq++) await payloads.events('h', seq);
  expect(read).toBe(12);
  for (const seq of [5, 6]) await payloads.events('h', seq);
  expect(read).toBe(12);
});

it('a missing frame, or one whose record differs or is damaged, is refused with a code', async () => {
  const at: Record<number, number> = { 0: 1, 1: 3, 2: 0, 3: 4, 4: 99 };
  const { payloads, log } = await openedWith({ frameAt: (_, seq) => Promise.resolve(at[seq]) });
  expect(await codeOf(payloads.events('h', 9))).toBe('E_SNAPSHOT_NOT_FOUND');
  expect(await codeOf(payloads.events('h', 1))).toBe('E_RECORD_DAMAGED');
  expect(await codeOf(payloads.events('h', 2))).toBe('E_RECORD_DAMAGED');
  expect(await codeOf(payloads.events('i', 0))).toBe('E_RECORD_DAMAGED');
  expect(await codeOf(payloads.events('h', 0))).toBe('no error');
  const [record] = (await log.read(0, 4, { maxBytes: 1 })).records;
  if (record === undefined) throw new Error('the log has no record');
  Object.assign(record, { damaged: true });
  expect(await codeOf(payloads.events('h', 3))).toBe('E_RECORD_DAMAGED');
});

it('frames kept among the rows are read there; bytes that are no frame are damage of the rows', async () => {
  const kept = frames.map(({ envelope, body }) => encodeFrame(envelope, body).bytes);
  const { payloads, reads } = await openedWith({
    frameAt: (_, seq) => Promise.resolve(seq === 5 ? Uint8Array.of(1, 2) : kept[seq]),
  });
  expect(await payloads.events('h', 2)).toEqual(frames[2]!.body.events);
  expect(await codeOf(payloads.events('h', 5))).toBe('E_ROWS_DAMAGED');
  expect(reads()).toEqual([]);
});

it('a function that reads frames is called again until it has them all, each fetched once, however small the cache is', async () => {
  const { payloads, reads } = await openedWith({ maxBytes: 1 });
  const wanted = [3, 1, 4, 1, 3];
  let calls = 0;
  const found = await payloads.using('h', (source) => {
    calls++;
    return wanted.map((seq) => source({ seq, index: 0 })['content']);
  });
  expect(found).toEqual(['text 2', 'text 0', 'text 3', 'text 0', 'text 2']);
  expect(reads()).toEqual([4, 2, 5]);
  expect(calls).toBe(4);
  expect(await codeOf(payloads.using('h', (source) => source({ seq: 3, index: 7 })))).toBe(
    'E_HISTORY_DEFECTIVE',
  );
});

it('a source finds frames where the caller says', async () => {
  const { payloads, reads } = await openedWith({ frameAt: () => Promise.resolve(undefined) });
  const content = await payloads.using(
    'h',
    (source) => source({ seq: 2, index: 0 })['content'],
    () => Promise.resolve(3),
  );
  expect(content).toBe('text 1');
  expect(reads()).toEqual([3]);
});

it('many payloads are read frame by frame from the first on, each once, in the order that they are asked for in, and a second time from the cache', async () => {
  const { payloads, reads } = await openedWith();
  const refs = [5, 1, 3, 1].map((seq) => ({ seq, index: 0 }));
  const contents = async () => (await payloads.all('h', refs)).map(({ content }) => content);
  expect(await contents()).toEqual(['text 4', 'text 0', 'text 2', 'text 0']);
  expect(reads()).toEqual([2, 4, 6]);
  expect(await contents()).toEqual(['text 4', 'text 0', 'text 2', 'text 0']);
  expect(reads()).toEqual([]);
  expect(await codeOf(payloads.all('h', [{ seq: 40, index: 0 }]))).toBe('E_SNAPSHOT_NOT_FOUND');
});

it('payloads of more frames than the cache has room for push nothing out of it', async () => {
  const { payloads, reads } = await openedWith({ maxBytes: 6 * 3 * 1_024 - 1 });
  payloads.keep('h', 40, frames[1]!.body.events, 100);
  const refs = [1, 2, 3, 4, 5, 6].map((seq) => ({ seq, index: 0 }));
  for (let i = 0; i < 3; i++) {
    await payloads.all('h', refs);
    expect(reads()).toEqual([2, 3, 4, 5, 6, 7]);
  }
  await payloads.events('h', 40);
  expect(reads()).toEqual([]);
  for (const read of [[3, 4, 5, 6, 7], []]) {
    await payloads.all('h', refs.slice(1));
    expect(reads()).toEqual(read);
  }
});

it('events of frames in turn are not kept; a frame that is no longer there says so when it comes', async () => {
  const { payloads, reads } = await openedWith();
  const seqs: number[] = [];
  for await (const { seq, events } of payloads.eventsInTurn('h', [0, 2, 3])) {
    expect(events).toEqual(frames[seq]!.body.events);
    seqs.push(seq);
  }
  expect([seqs, reads()]).toEqual([
    [0, 2, 3],
    [1, 3, 4],
  ]);
  await payloads.events('h', 3);
  expect(reads()).toEqual([4]);
  const until = async (): Promise<void> => {
    for await (const { seq } of payloads.eventsInTurn('h', [1, 40])) seqs.push(seq);
  };
  expect(await codeOf(until())).toBe('E_SNAPSHOT_NOT_FOUND');
  expect(seqs).toEqual([0, 2, 3, 1]);
});
