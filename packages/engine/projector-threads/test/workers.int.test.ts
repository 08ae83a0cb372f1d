import { isStemmaError } from '@stemma/errors';
import { openMemoryContents } from '@stemma/contents';
import { pack, type Packable } from '@stemma/canonical';
import type { Frame } from '@stemma/events';
import { openMemoryLog, type FrameSealer } from '@stemma/log';
import { READ_MODELS } from '@stemma/read-models';
import type { RowStore } from '@stemma/row-store';
import type { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { openThreads } from '../src/index.ts';
import { openProjector, verifyReplay, type Projector } from '@stemma/projector';
import { entriesOf, logged, sized } from '@stemma/test-kit';
import { bytesOfRows, emptyStore, made, recorded, spoiled } from './lmdb-rows.ts';

/** The same store, which counts the commits of the thread that the projector is in. */
const counted = (store: RowStore): RowStore & { commits: number } => {
  const counting = {
    ...store,
    commits: 0,
    generation: async (...args: Parameters<RowStore['generation']>) => {
      const generation = await store.generation(...args);
      return {
        ...generation,
        commit: (batch: Parameters<typeof generation.commit>[0]) => {
          counting.commits++;
          return generation.commit(batch);
        },
      };
    },
  };
  return counting;
};

it(
  'gives the same rows to the byte for any number of threads, batch size and stop',
  { tags: ['record§5:heads'] },
  async () => {
    const { log, contents } = await spoiled();
    const options = { eager: 'all' as const, log, contents, models: READ_MODELS };
    const alone = openProjector({ ...options, store: emptyStore() });
    await alone.catchUp();
    const expected = await bytesOfRows(alone);
    expect(expected.length).toBeGreaterThan(500);
    const systems = [
      [2, 9, 10],
      [1, 7, Infinity],
      [2, 3, 30],
      [3, 20, 4],
    ] as const;
    for (const [count, frames, stopAfter] of systems.slice(0, sized(2, Infinity))) {
      const store = counted(emptyStore());
      let projector: Projector;
      let all = 0;
      for (let ended = false; !ended;) {
        let batches = 0;
        let stopped = false;
        projector = openProjector({
          ...options,
          store,
          limits: { frames },
          runPartition: openThreads({ workers: { count, least: 0 } }),
          progress: () => all++,
          stop: () => ++batches % stopAfter === 0 && (stopped = true),
        });
        await projector.catchUp();
        ended = !stopped;
      }
      expect(all - store.commits).toBeGreaterThan(3);
      expect(await bytesOfRows(projector!)).toEqual(expected);
    }
  },
);

it('folds histories whose frames are sealed in the thread that has their keys, in the same windows', async () => {
  const seal = ({ envelope, body }: Frame): Frame => {
    const { at, branchId, ...rest } = body;
    const content = Buffer.from(pack(rest as unknown as Packable)).toString('base64');
    const events = [{ type: 'FrameSealed', payload: { content } }];
    const sealed = {
      recorder: 'sealed',
      at,
      branchId,
      command: `sealed:${envelope.seq}`,
      digest: body.digest,
      events,
    };
    return { envelope, body: sealed as unknown as Frame['body'] };
  };
  const log = await openMemoryLog();
  for (const [history, { frames }] of recorded.histories)
    await log.append(0, entriesOf(history === 'h0' ? frames.map(seal) : frames));
  const sealer: FrameSealer = {
    seals: (history) => history === 'h0',
    canOpen: () => true,
    seal: (_, plain) => plain,
    open: (_, sealed) => sealed,
    destroy: () => undefined,
  };
  const options = { eager: 'all' as const, log, contents: { ...openMemoryContents(), sealer } };
  const alone = openProjector({ ...options, store: emptyStore() });
  await alone.catchUp();
  const store = counted(emptyStore());
  const progress: number[] = [];
  const projector = openProjector({
    ...options,
    store,
    limits: { frames: 10 },
    runPartition: openThreads({ workers: { count: 2, least: 0 } }),
    progress: ({ batches }) => progress.push(batches),
  });
  await projector.catchUp();
  expect(await bytesOfRows(projector)).toEqual(await bytesOfRows(alone));
  // The first batch.
  expect(store.commits).toBe(1);
  expect(progress.length).toBeGreaterThan(3);
});

it('verifies with threads, whose replay finds no difference', { tags: ['long'] }, async () => {
  const { log, contents } = await logged(recorded);
  const store = counted(emptyStore());
  const projector = openProjector({
    log,
    contents,
    store,
    limits: { frames: 9 },
    runPartition: openThreads({ workers: { count: 2, least: 0 } }),
  });
  await projector.catchUp();
  expect(store.commits).toBe(1);
  const report = await verifyReplay(projector, { scratch: emptyStore });
  expect([report.differences, report.accepted]).toEqual([0, recorded.entries.length + 1]);
});

it(
  'an error of a thread, or its end, is an error of the run, and the next run goes on',
  { tags: ['long'] },
  async () => {
    const { log, contents } = await logged(recorded);
    const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
      promise.then(
        () => 'no error',
        (error: unknown) => (isStemmaError(error) ? error.code : error),
      );
    const store = emptyStore();
    const options = { eager: 'all' as const, log, contents, limits: { frames: 4 } };
    const runPartition = openThreads({ workers: { count: 2, least: 0 } });
    const nowhere: RowStore = {
      ...store,
      address: (generation) => ({ kind: 'lmdb', file: '/dev/null/rows.mdb', generation }),
    };
    expect(await codeOf(openProjector({ ...options, store: nowhere, runPartition }).catchUp())).toBe(
      'E_INTERNAL',
    );

    const threads: Worker[] = [];
    const hear = (worker: Worker): void => void threads.push(worker);
    process.on('worker', hear);
    made.push(() => void process.off('worker', hear));
    const ending = openProjector({
      ...options,
      store,
      runPartition,
      progress: ({ batches }) => {
        if (batches === 3) void threads.at(-1)?.terminate();
      },
    });
    expect(await codeOf(ending.catchUp())).toBe('E_INTERNAL');
    const projector = openProjector({ ...options, store, runPartition });
    await projector.catchUp();
    expect((await verifyReplay(projector, { scratch: emptyStore })).differences).toBe(0);
  },
);

it('folds on demand with every frame for the histories that were asked for', async () => {
  const { log, contents } = await logged(recorded);
  const eager = (history: string, model: string): boolean => history === 'h2' && model === 'stages';
  const options = { eager, log, contents, limits: { frames: 6 } };
  const alone = openProjector({ ...options, store: emptyStore() });
  await alone.catchUp();
  const expected = await bytesOfRows(alone);
  const store = counted(emptyStore());
  const projector = openProjector({
    ...options,
    store,
    runPartition: openThreads({ workers: { count: 2, least: 0 } }),
  });
  await projector.catchUp();
  expect(store.commits).toBe(1);
  expect([...(await alone.onDemand()).keys()]).toEqual(['h2']);
  expect(await bytesOfRows(projector)).toEqual(expected);
});

it(
  'goes on in the rows that take the place of those that were thrown away meanwhile',
  { tags: ['long'] },
  async () => {
    const { log, contents } = await logged(recorded);
    const options = { eager: 'all' as const, log, contents, limits: { frames: 6 } };
    const alone = openProjector({ ...options, store: emptyStore() });
    await alone.catchUp();
    const store = counted(emptyStore());
    let thrownAway = false;
    const projector: Projector = openProjector({
      ...options,
      store,
      runPartition: openThreads({ workers: { count: 2, least: 0 } }),
      progress: ({ batches }) => {
        if (batches !== 3 || thrownAway) return;
        thrownAway = true;
        void store.discard('1');
      },
    });
    await projector.catchUp();
    expect(thrownAway).toBe(true);
    // The first batch of each run.
    expect(store.commits).toBe(2);
    expect(await bytesOfRows(projector)).toEqual(await bytesOfRows(alone));
  },
);
