import { openMemoryContents } from '@stemma/contents';
import { isStemmaError } from '@stemma/errors';
import { readHistoryHead } from '@stemma/history-store';
import { openMemoryLog, type EventLog } from '@stemma/log';
import { withoutVouching } from '@stemma/log/contract';
import { listBranches } from '@stemma/read-models';
import { openMemoryRowStore, type RowReader, type RowStore } from '@stemma/row-store';
import { someRecorded } from '@stemma/test-kit';
import { expect, it } from 'vitest';
import {
  MAIN_GROUP,
  openExternalProjection,
  openProjector,
  type Projection,
  type Projector,
} from '../src/index.ts';

const contents = openMemoryContents();
const recorded = someRecorded(5);

const folding = (log: EventLog, store: RowStore): Projector => {
  const { name: group, models, keepFrames } = MAIN_GROUP;
  return openProjector({ eager: 'all', log, contents, store, group, models, keepFrames });
};
const openExternal = (log: EventLog, store: RowStore, catchUpTimeout = 60_000): Projection =>
  openExternalProjection({ log, contents, store, catchUpTimeout });
const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => (isStemmaError(error) ? error.code : error),
  );

it(
  'an external projection answers when its rows have what is in the log, and the next read has what a command recorded',
  { tags: ['decision-0047'] },
  async () => {
    const log = await openMemoryLog();
    const store = openMemoryRowStore();
    const [projector, rows] = [folding(log, store), openExternal(log, store)];
    const half = recorded.entries.length >> 1;
    await log.append(0, recorded.entries.slice(0, half));
    const waiting = rows.catchUp();
    await projector.catchUp();
    await waiting;
    expect((await rows.checkpoint(0))?.cursor.offset).toBe(await log.end(0));
    await log.append(0, recorded.entries.slice(half));
    const more = rows.catchUp(0);
    await projector.catchUp();
    await more;
    for (const [history, { frames, branches: branchIds }] of recorded.histories) {
      expect(await rows.read((view) => readHistoryHead(view, history)?.next)).toBe(frames.length);
      expect(await rows.read((view) => listBranches(view, history).length)).toBe(branchIds.size);
      expect(await rows.payloads.events(history, 0)).toEqual(frames[0]?.body.events);
    }
  },
);

it('a read that waits too long for rows, or finds none, ends with a code', async () => {
  const log = await openMemoryLog();
  const store = openMemoryRowStore();
  await log.append(0, recorded.entries);
  const rows = openExternal(log, store, 20);
  await expect(rows.catchUp()).rejects.toThrow(/no projector of this version has begun/);
  expect(await codeOf(rows.catchUp())).toBe('E_ROWS_BEHIND');
  const never = new AbortController().signal;
  expect(await codeOf(rows.waitFor({ partition: 0, offset: 5 }, never))).toBe('E_ROWS_BEHIND');
  expect(
    await codeOf(openExternal(log, store).waitFor({ partition: 0, offset: 5 }, AbortSignal.abort())),
  ).toBe('E_CANCELLED');
});

it(
  'rows in which a reader misses some are discarded, reported, and rebuilt by their projector',
  { tags: ['decision-0051'] },
  async () => {
    const log = await openMemoryLog();
    const store = openMemoryRowStore();
    await log.append(0, recorded.entries);
    await folding(log, store).catchUp();
    const rows = openExternal(log, store, 20);
    const [history = ''] = recorded.histories.keys();
    const before = await rows.read((view) => readHistoryHead(view, history)?.next);
    const lacking = rows.read((view) => {
      const fewer: RowReader = { get: (table, key) => view.get(table, key), range: () => [] };
      return listBranches(fewer, history);
    });
    await expect(lacking).rejects.toMatchObject({ code: 'E_ROWS_DAMAGED', detail: { history } });
    expect(await store.current(MAIN_GROUP.name)).toBeNull();
    expect(await codeOf(rows.catchUp())).toBe('E_ROWS_BEHIND');
    await folding(log, store).catchUp();
    expect(await rows.read((view) => readHistoryHead(view, history)?.next)).toBe(before);
  },
);

it(
  'a reader that waited for rows waits again where these were discarded, and others are being built',
  { tags: ['decision-0051'] },
  async () => {
    const log = await openMemoryLog();
    const store = openMemoryRowStore();
    const half = recorded.entries.length >> 1;
    await log.append(0, recorded.entries.slice(0, half));
    const slow = folding(log, store);
    await slow.catchUp();
    await log.append(0, recorded.entries.slice(half));
    await slow.catchUp();
    const rows = openExternal(log, store);
    await rows.catchUp();
    await store.discard((await store.current(MAIN_GROUP.name)) ?? '');
    // Another projector has folded only the first records when the reader comes.
    const short: EventLog = {
      ...log,
      end: async () => half,
      read: async (partition, offset) => {
        const { records } = await log.read(partition, offset, { maxBytes: 1_000_000 });
        const some = records.filter((record) => record.offset < half);
        return { records: some, next: some.at(-1)?.next ?? offset };
      },
    };
    await folding(short, store).catchUp();
    const heads = rows.read((view) =>
      [...recorded.histories.keys()].map((history) => readHistoryHead(view, history)?.next),
    );
    await folding(log, store).catchUp();
    expect(await heads).toEqual([...recorded.histories.values()].map(({ frames }) => frames.length));
  },
);

it('a reader leaves rows that were replaced', async () => {
  const log = await openMemoryLog();
  const store = openMemoryRowStore();
  const projector = folding(log, store);
  await log.append(0, recorded.entries);
  await projector.catchUp();
  const rows = openExternal(log, store);
  const heads = (): Promise<unknown[]> =>
    rows.read((view) =>
      [...recorded.histories.keys()].map((history) => readHistoryHead(view, history)?.next),
    );
  const before = await heads();
  await projector.rebuild();
  expect(await heads()).toEqual(before);
  expect(before).not.toContain(undefined);
});

it(
  'a reader does not wait for records that damage makes unreadable',
  { tags: ['record§2:unknown-key'] },
  async () => {
    const sound = await openMemoryLog();
    const store = openMemoryRowStore();
    await sound.append(0, recorded.entries.slice(0, 5));
    const log = withoutVouching(sound, await sound.end(0));
    await log.append(0, [{ key: 'never seen', bytes: Uint8Array.of(1, 2, 3) }]);
    await log.append(0, recorded.entries.slice(5));
    await folding(log, store).catchUp();
    const rows = openExternal(log, store);
    await rows.catchUp();
    const never = new AbortController().signal;
    expect(await codeOf(rows.waitFor({ partition: 0, offset: await log.end(0) }, never))).toBe(
      'E_PARTITION_CLOSED',
    );
  },
);
