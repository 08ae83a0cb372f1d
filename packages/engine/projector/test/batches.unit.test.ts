import { openMemoryContents } from '@stemma/contents';
import { encodeFrame, openMemoryLog } from '@stemma/log';
import { openMemoryRowStore } from '@stemma/row-store';
import { logged, someRecorded } from '@stemma/test-kit';
import { expect, it } from 'vitest';
import { openProjector, type Progress } from '../src/index.ts';
import type { BatchLimits } from '../src/batch-limits.ts';

const recorded = someRecorded(5);
const total = recorded.entries.length;
const events = [...recorded.histories.values()].reduce(
  (sum, { frames }) => sum + frames.reduce((all, { body }) => all + body.events.length, 0),
  0,
);

/** The progress of a run with limits. The clock goes on by `tick` each time it is read. */
const progressWith = async (
  limits: BatchLimits,
  { tick = 0, stopAfter = Infinity } = {},
): Promise<Progress[]> => {
  const { log, contents } = await logged(recorded);
  const progress: Progress[] = [];
  let time = 0;
  await openProjector({
    eager: 'all',
    log,
    contents,
    store: openMemoryRowStore(),
    limits,
    now: () => (time += tick),
    progress: (each) => progress.push(each),
    stop: () => progress.length >= stopAfter,
  }).catchUp();
  return progress;
};

it('a run that reaches no limit is one batch with the progress of the whole run', async () => {
  // The log begins with a control frame, which counts to no history.
  expect(await progressWith({})).toEqual([
    { partition: 0, offset: total + 1, frames: total + 1, events, batches: 1 },
  ]);
});

it.each([1, 2, 7, total, total + 1])('a batch ends with frame %i', async (frames) => {
  const progress = await progressWith({ frames });
  const batches = Math.ceil((total + 1) / frames);
  expect(progress.map((each) => each.frames)).toEqual(
    Array.from({ length: batches }, (_, i) => Math.min((i + 1) * frames, total + 1)),
  );
  expect(progress.map(({ offset }) => offset)).toEqual(progress.map((each) => each.frames));
  expect(progress.map((each) => each.batches)).toEqual(progress.map((_, i) => i + 1));
  expect(progress.at(-1)?.events).toBe(events);
  const sums = progress.map((each) => each.events);
  expect(sums).toEqual(sums.toSorted((a, b) => a - b));
});

it('a run that is stopped ends with the batch after which it was stopped', async () => {
  const progress = await progressWith({ frames: 3 }, { stopAfter: 4 });
  expect(progress.map((each) => each.frames)).toEqual([3, 6, 9, 12]);
});

it('a batch ends with the rows or the milliseconds that reach its limit, and not before', async () => {
  const { log, contents } = await logged(recorded);
  // One frame at a time: what is read together is in one batch.
  const read: EventLogRead = (partition, from) => log.read(partition, from, { maxBytes: 1 });
  const runWith = async (limits: BatchLimits, tick = 0): Promise<number[]> => {
    const offsets: number[] = [];
    let time = 0;
    const projector = openProjector({
      eager: 'all',
      log: { ...log, read },
      contents,
      store: openMemoryRowStore(),
      limits,
      now: () => (time += tick),
      progress: ({ offset }) => offsets.push(offset),
    });
    await projector.catchUp();
    return offsets;
  };
  const each = Array.from({ length: total + 1 }, (_, i) => i + 1);
  expect(await runWith({ rows: 1 })).toEqual(each);
  expect(await runWith({ rows: 1_000_000 })).toEqual([total + 1]);
  expect(await runWith({ milliseconds: 4 }, 2)).toEqual(each.filter((n) => n % 2 === 0 || n === total + 1));
  expect(await runWith({ milliseconds: 5 }, 2)).toEqual(each.filter((n) => n % 3 === 0 || n === total + 1));
  expect(await runWith({ milliseconds: 0 })).toEqual(each);
  expect(await runWith({}, 500)).toEqual(each);
  expect(await runWith({}, 250)).toEqual(each.filter((n) => n % 2 === 0 || n === total + 1));
  expect(await runWith({}, 249)).toEqual(each.filter((n) => n % 3 === 0 || n === total + 1));
});

type EventLogRead = Awaited<ReturnType<typeof openMemoryLog>>['read'];

it('a batch ends with the frame whose bytes reach its limit', async () => {
  const log = await openMemoryLog();
  const entries = recorded.entries.filter(({ key }) => key === 'h0');
  await log.append(0, entries);
  const frames = recorded.histories.get('h0')?.frames ?? [];
  const read: EventLogRead = (partition, from) => log.read(partition, from, { maxBytes: 1 });
  const offsetsWith = async (bytes: number): Promise<number[]> => {
    const offsets: number[] = [];
    await openProjector({
      eager: 'all',
      log: { ...log, read },
      contents: openMemoryContents(),
      store: openMemoryRowStore(),
      limits: { bytes, milliseconds: 1_000_000 },
      progress: ({ offset }) => offsets.push(offset),
    }).catchUp();
    return offsets;
  };
  const sizes = frames.map(({ envelope, body }) => encodeFrame(envelope, body).bytes.length);
  const limit = 700;
  // The control frame in front counts too; its bytes are those that make the first batch what it is.
  const [beginning = 0] = await offsetsWith(limit);
  const ends: number[] = [beginning];
  for (let at = beginning, sum = 0; at <= frames.length; at++) {
    sum += sizes[at - 1] ?? 0;
    if (sum < limit && at < frames.length) continue;
    ends.push(at + 1);
    sum = 0;
  }
  expect(await offsetsWith(limit)).toEqual(ends);
});
