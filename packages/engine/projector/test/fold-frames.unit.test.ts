import { DEFECTS } from '@stemma/history-store';
import { checkpointAtStart, readPartition } from '@stemma/log';
import { stageRows } from '@stemma/row-store';
import { logged, someRecorded } from '@stemma/test-kit';
import { expect, it } from 'vitest';
import { openBranchCache, type BranchCache } from '../src/branch-cache.ts';
import { foldFrames } from '../src/fold-frames.ts';
import { openPayloads } from '../src/payloads.ts';
import { openWindowSize } from '../src/window-size.ts';

const recorded = someRecorded(11, 4, 20);

/** Folds the frames of some histories as one batch: their rows, and how many trees were read from rows. */
const foldAll = async (histories: readonly string[], cacheBytes: number) => {
  const entries = recorded.entries.filter(({ key }) => histories.includes(key));
  const { log, contents } = await logged({ ...recorded, entries });
  const staged = Object.assign(stageRows({ get: () => undefined, range: () => [] }), {
    using: <T>(fn: () => T | Promise<T>) => Promise.resolve().then(fn),
  });
  let trees = 0;
  const cache = openBranchCache(cacheBytes);
  const branchCache: BranchCache = Object.create(cache, {
    noteRead: {
      value: (nodes: number) => {
        trees++;
        cache.noteRead(nodes);
      },
    },
  }) as BranchCache;
  const nowhere = { frameAt: () => Promise.resolve(undefined), framesAt: () => Promise.resolve(new Map()) };
  const context = {
    models: [],
    onDemand: [],
    eager: () => false,
    isCounted: () => false,
    contents,
    decoded: undefined,
    branchCache,
    payloads: openPayloads({ log, contents, ...nowhere }),
    keepFrames: false,
    pause: () => undefined,
  };
  const start = { checkpoint: await checkpointAtStart(log, 0), heads: { load: () => new Map() } };
  let frames = 0;
  let nodesRead = 0;
  for await (const batch of readPartition(log, start)) {
    const counts = await foldFrames(batch, staged, context);
    frames += counts.frames;
    nodesRead += counts.nodesRead;
  }
  return { staged, trees, frames, nodesRead };
};

it('reads a tree that has left memory once for all frames of a history in a batch', async () => {
  const all = [...recorded.histories.keys()];
  const narrow = await foldAll(all, 1);
  const wide = await foldAll(all, 1_000_000_000);
  expect(narrow.frames).toBeGreaterThan(50);
  expect(narrow.staged.changes()).toEqual(wide.staged.changes());
  expect([...narrow.staged.range(DEFECTS, { prefix: [] })]).toEqual([]);
  // What a history reads of its own branches, it reads without others beside it too.
  const alone = await Promise.all(all.map((history) => foldAll([history], 1)));
  const sum = (of: (one: (typeof alone)[number]) => number): number =>
    alone.reduce((total, one) => total + of(one), 0);
  expect([narrow.trees, narrow.nodesRead]).toEqual([sum(({ trees }) => trees), sum((one) => one.nodesRead)]);
});

it('a window grows while trees are read for few events, to eight times its size, and shrinks when they are not', () => {
  const window = openWindowSize();
  const after = (events: number, nodesRead: number): number | undefined => {
    window.folded({ events, nodesRead });
    return window.bytes;
  };
  const MiB = 1024 * 1024;
  expect(window.bytes).toBeUndefined();
  expect([after(100, 1_000), after(0, 0)]).toEqual([undefined, undefined]);
  expect([1, 2, 3, 4].map(() => after(100, 1_001))).toEqual([2 * MiB, 4 * MiB, 8 * MiB, 8 * MiB]);
  expect([after(100, 400), after(100, 399), after(100, 0), after(100, 0)]).toEqual([
    8 * MiB,
    4 * MiB,
    2 * MiB,
    undefined,
  ]);
});
