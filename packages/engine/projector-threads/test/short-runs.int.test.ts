import { openMemoryContents } from '@stemma/contents';
import type { Frame } from '@stemma/events';
import { openMemoryLog, partitionOf, type EventLog, type FrameSealer } from '@stemma/log';
import type { RowStore } from '@stemma/row-store';
import type { Worker } from 'node:worker_threads';
import { expect, it, vi } from 'vitest';
import { openProjector, verifyReplay, type Projector, type ProjectorOptions } from '@stemma/projector';
import { appendAll, entriesOf } from '@stemma/test-kit';
import { openThreads } from '../src/index.ts';
import { bytesOfRows, emptyStore, made, recorded, spoiled } from './lmdb-rows.ts';

type Apart = { readonly projector: Projector; readonly begun: () => boolean };

/** A projector that gives its runs away as soon as it can. */
const apart = (options: Omit<ProjectorOptions, 'runPartition' | 'decoded'>): Apart => {
  let begun = false;
  const stop = (): void => {
    begun = true;
  };
  const projector = openProjector({
    ...options,
    runPartition: openThreads({ shortRunsAfter: 1 }),
    decoded: { take: () => undefined, stop },
  });
  made.push(() => projector.close());
  return { projector, begun: () => begun };
};

/** Resolves when the thread folds. */
const untilBegun = ({ projector, begun }: Apart): Promise<void> =>
  vi.waitFor(
    async () => {
      await projector.catchUp();
      expect(begun()).toBe(true);
    },
    { timeout: 30_000 },
  );

/** The same store, which counts the commits of the thread that the projector is in. */
const counted = (store: RowStore): RowStore & { commits: number } => {
  const counting = {
    ...store,
    commits: 0,
    generation: async (...args: Parameters<RowStore['generation']>) => {
      const generation = await store.generation(...args);
      const commit: typeof generation.commit = (batch) => {
        counting.commits++;
        return generation.commit(batch);
      };
      return { ...generation, commit };
    },
  };
  return counting;
};

/** The rows of a projector that folds alone. */
const rowsAlone = async (options: Pick<ProjectorOptions, 'log' | 'contents'>): Promise<readonly string[]> => {
  const alone = openProjector({ ...options, store: emptyStore() });
  await alone.catchUp();
  return bytesOfRows(alone);
};

it(
  'gives the same rows to the byte, whatever is damaged, and tells of its progress',
  { tags: ['record§5:heads'] },
  async () => {
    const whole = await spoiled();
    const log = await openMemoryLog({ partitions: 2 });
    const records = [0, 1].flatMap((partition) =>
      whole.log.records(partition).map((record) => ({ partition, record })),
    );
    const [first, ...others] = records.filter(
      ({ record }) => record.key !== null && !record.key.startsWith('log:'),
    );
    const append = ({ partition, record }: (typeof records)[number]) =>
      log.append(partition, [{ key: record.key!, bytes: record.bytes }]);
    await append(first!);
    const store = counted(emptyStore());
    let folded = 0;
    const { contents } = whole;
    const one = apart({ log, contents, store, limits: { frames: 3 }, progress: () => folded++ });
    await untilBegun(one);
    const [commits, told] = [store.commits, folded];
    for (const [i, record] of others.entries()) {
      await append(record);
      // Runs of one record, and of several.
      if (i % 5 < 2) await one.projector.catchUp();
    }
    await one.projector.catchUp();
    expect(await bytesOfRows(one.projector)).toEqual(await rowsAlone({ log, contents }));
    expect(folded).toBeGreaterThan(told + 50);
    expect(store.commits).toBe(commits);
    expect((await verifyReplay(one.projector, { scratch: emptyStore })).differences).toBe(0);
  },
);

/** A log in which everything but the last records is folded, these by the thread. */
const halfFolded = async (
  options: Partial<ProjectorOptions> = {},
): Promise<
  Apart & {
    readonly log: EventLog;
    readonly store: ReturnType<typeof counted>;
    readonly rest: () => Promise<void>;
  }
> => {
  const { entries } = recorded;
  const log = await openMemoryLog();
  const half = entries.length >> 1;
  await appendAll(log, entries.slice(0, half));
  const store = counted(emptyStore());
  const one = apart({ log, contents: openMemoryContents(), store, ...options });
  await untilBegun(one);
  const rest = async (): Promise<void> => {
    for (const entry of entries.slice(half)) {
      await appendAll(log, [entry]);
      await one.projector.catchUp();
    }
  };
  return { ...one, log, store, rest };
};

it('folds on by itself when its thread has ended', async () => {
  const threads: Worker[] = [];
  const hear = (worker: Worker): void => void threads.push(worker);
  process.on('worker', hear);
  made.push(() => void process.off('worker', hear));
  const { projector, log, store, rest } = await halfFolded();
  await threads[0]!.terminate();
  const commits = store.commits;
  await rest();
  expect(store.commits).toBeGreaterThan(commits);
  expect(await bytesOfRows(projector)).toEqual(await rowsAlone({ log, contents: openMemoryContents() }));
});

it('builds rows anew that were thrown away meanwhile, in the rows that take their place', async () => {
  const { projector, log, store, rest } = await halfFolded();
  const { name } = await projector.generation();
  expect(await store.discard(name)).toBe(true);
  await rest();
  expect(await bytesOfRows(projector)).toEqual(await rowsAlone({ log, contents: openMemoryContents() }));
});

it('folds histories whose frames are sealed where their keys are', async () => {
  const sealer: FrameSealer = {
    seals: (history) => history === 'h0',
    canOpen: () => true,
    seal: (_, plain) => plain,
    open: (_, sealed) => sealed,
    destroy: () => undefined,
  };
  const contents = { ...openMemoryContents(), sealer };
  const { store, log, rest, projector } = await halfFolded({ contents });
  const commits = store.commits;
  await rest();
  const { entries } = recorded;
  const own = entries.slice(entries.length >> 1).filter(({ key }) => key === 'h0');
  expect(own.length).toBeGreaterThan(5);
  expect(store.commits).toBe(commits + own.length);
  expect(partitionOf('h0', log.partitions)).toBe(0);
  expect(await bytesOfRows(projector)).toEqual(await rowsAlone({ log, contents }));
});

/** The same log, in which each record takes a megabyte. */
const withLargeRecords = (log: EventLog): EventLog => {
  const size = 1024 * 1024;
  return {
    ...log,
    end: async (partition) => size * (await log.end(partition)),
    start: async (partition) => size * (await log.start(partition)),
    read: async (partition, from, options) => {
      const { records, next } = await log.read(partition, from / size, options);
      return {
        records: records.map((record) => ({
          ...record,
          offset: size * record.offset,
          next: size * record.next,
        })),
        next: size * next,
      };
    },
  };
};

it('gives the thread runs of many bytes in a few frames too: more threads would not begin with those', async () => {
  const { entries } = recorded;
  const memory = await openMemoryLog();
  const log = withLargeRecords(memory);
  const half = entries.length >> 1;
  expect(entries.length - half).toBeGreaterThan(20);
  await appendAll(memory, entries.slice(0, half));
  const store = counted(emptyStore());
  const one = apart({ log, contents: openMemoryContents(), store });
  await untilBegun(one);
  const commits = store.commits;
  await appendAll(memory, entries.slice(half));
  await one.projector.catchUp();
  expect(store.commits).toBe(commits);
  expect(await bytesOfRows(one.projector)).toEqual(await rowsAlone({ log, contents: openMemoryContents() }));
});

it(
  'leaves a long run to others the first time only: what was written since its last run is its own',
  { tags: ['long'] },
  async () => {
    const frame = (seq: number): Frame => ({
      envelope: { v: 1, history: 'h0', seq, prev: new Uint8Array(32) },
      body: {
        recorder: 'r',
        command: `c${seq}`,
        digest: new Uint8Array(32),
        at: 1_790_000_000_000_000_000n,
        branchId: 0,
        events:
          seq > 0 ? [{ type: 'PositionAnnotated', branchId: 0, seq: seq - 1, note: 'n' }] : [START_EVENT],
      },
    });
    const entries = entriesOf(Array.from({ length: 12_000 }, (_, seq) => frame(seq)));
    const memory = await openMemoryLog();
    const log = withLargeRecords(memory);
    const store = counted(emptyStore());
    const one = apart({ log, contents: openMemoryContents(), store });
    await appendAll(memory, entries.slice(0, 10));
    await one.projector.catchUp();
    await appendAll(memory, entries.slice(10, 5_000));
    await untilBegun(one);
    await appendAll(memory, entries.slice(5_000, 5_001));
    await one.projector.catchUp();
    const commits = store.commits;
    await appendAll(memory, entries.slice(5_001));
    await one.projector.catchUp();
    expect(store.commits).toBe(commits);
    expect((await one.projector.checkpoint(0))?.cursor.offset).toBe(await log.end(0));
  },
);

const START_EVENT = {
  type: 'HistoryStarted',
  name: null,
  ids: { root: 'root', sys: 'sys', seq: 'seq', ah: 'ah' },
  thread: 'full',
  cycle: 0,
  source: null,
  salvaged: null,
} as const;
