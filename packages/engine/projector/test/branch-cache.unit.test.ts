import type { HistoryState } from '@stemma/history';
import { naiveHistory } from '@stemma/test-kit';
import { expect, it } from 'vitest';
import { openBranchCache } from '../src/branch-cache.ts';

/** What a branch without nodes counts for. */
const BRANCH = 10_000;
const NODE = 500;

/** Loads a branch with four regions into a state. */
const load = (state: HistoryState, branchId: number): void => {
  const source = naiveHistory(() => undefined);
  source.run(0, [{ op: 'start', name: null }]);
  const branch = source.state.loadedBranches.get(0);
  if (branch === undefined) throw new Error('the history has no branch');
  state.loadedBranches.set(branchId, branch);
};
const sizeOf = (state: HistoryState, branchId: number): number =>
  BRANCH + NODE * (state.loadedBranches.get(branchId)?.tree.counts.nodes ?? 0);

it('a history stays in the cache as long as its next frame is the requested one', () => {
  const cache = openBranchCache(1_000_000);
  const state = cache.history('h', 3);
  expect([state.history, state.next, state.loadedBranches.size]).toEqual(['h', 3, 0]);
  expect(cache.history('h', 3)).toBe(state);
  expect(cache.history('i', 3)).not.toBe(state);
  const other = cache.history('h', 4);
  expect(other).not.toBe(state);
  expect(cache.history('h', 4)).toBe(other);
});

it('branches are evicted when there is no room, and a history with its last branch', () => {
  const room = openBranchCache(1_000_000);
  const probe = room.history('h', 1);
  load(probe, 0);
  const size = sizeOf(probe, 0);
  expect(size).toBeGreaterThan(BRANCH);

  const cache = openBranchCache(size * 2);
  const [one, two] = [cache.history('one', 1), cache.history('two', 1)];
  for (const [state, branchId] of [
    [one, 0],
    [one, 1],
    [two, 0],
  ] as const) {
    load(state, branchId);
    cache.markUsed(state, branchId);
  }
  expect([...one.loadedBranches.keys()]).toEqual([1]);
  expect(cache.history('one', 1)).toBe(one);
  // Both new branches of `two` are used again and again, that of `one` is not.
  for (const branchId of [5, 0, 5]) {
    if (!two.loadedBranches.has(branchId)) load(two, branchId);
    cache.markUsed(two, branchId);
  }
  expect([...one.loadedBranches.keys()]).toEqual([]);
  expect(cache.history('one', 1)).not.toBe(one);
  expect([...two.loadedBranches.keys()]).toEqual([0, 5]);

  const small = openBranchCache(size * 2 - 1);
  const state = small.history('h', 1);
  for (const branchId of [0, 1]) {
    load(state, branchId);
    small.markUsed(state, branchId);
  }
  expect([...state.loadedBranches.keys()]).toEqual([1]);
});

it('the newest branch stays in the cache even if it is larger than the cache', () => {
  const cache = openBranchCache(1);
  const state = cache.history('h', 1);
  load(state, 0);
  cache.markUsed(state, 0);
  expect([...state.loadedBranches.keys()]).toEqual([0]);
  load(state, 1);
  cache.markUsed(state, 1);
  expect([...state.loadedBranches.keys()]).toEqual([1]);
});

it('forgetting a history makes room and evicts no branch of another', () => {
  const cache = openBranchCache(1_000_000);
  const [one, two] = [cache.history('one', 1), cache.history('two', 1)];
  load(one, 0);
  load(two, 0);
  cache.markUsed(one, 0);
  cache.markUsed(two, 0);
  cache.forget('one');
  expect(cache.history('one', 1)).not.toBe(one);
  expect(cache.history('two', 1)).toBe(two);
  cache.clear();
  expect(cache.history('two', 1)).not.toBe(two);

  const narrow = openBranchCache(sizeOf(two, 0) * 2);
  const [gone, kept] = [narrow.history('gone', 1), narrow.history('kept', 1)];
  load(kept, 0);
  narrow.markUsed(kept, 0);
  load(gone, 0);
  narrow.markUsed(gone, 0);
  narrow.forget('gone');
  load(kept, 1);
  narrow.markUsed(kept, 1);
  expect([...kept.loadedBranches.keys()]).toEqual([0, 1]);

  narrow.clear();
  const fresh = narrow.history('kept', 1);
  for (const branchId of [0, 1]) {
    load(fresh, branchId);
    narrow.markUsed(fresh, branchId);
  }
  expect([...fresh.loadedBranches.keys()]).toEqual([0, 1]);
});

it('branches that were not used for some periods are evicted though there is room', () => {
  const cache = openBranchCache(1_000_000);
  const [idle, busy] = [cache.history('idle', 1), cache.history('busy', 1)];
  for (const state of [idle, busy]) {
    load(state, 0);
    cache.markUsed(state, 0);
  }
  load(busy, 1);
  cache.markUsed(busy, 1);
  for (let period = 0; period < 3; period++) {
    expect(cache.history('idle', 1)).toBe(idle);
    cache.evictUnused(3);
    cache.markUsed(busy, 1);
  }
  expect(cache.history('idle', 1)).not.toBe(idle);
  expect(cache.history('busy', 1)).toBe(busy);
  expect([...busy.loadedBranches.keys()]).toEqual([1]);
});

it('what nobody folded for a while leaves, though there is room: finished conversations do not fill it', () => {
  let now = 0;
  const cache = openBranchCache(1_000_000_000, () => now);
  const loaded = openBranchCache(1).history('loaded', 1);
  load(loaded, 0);
  const fold = (name: string): void => {
    const state = cache.history(name, 1);
    for (const [branchId, branch] of loaded.loadedBranches) state.loadedBranches.set(branchId, branch);
    cache.markUsed(state, 0);
  };
  const inMemory: number[] = [];
  for (let number = 0; number < 10_000; number++) {
    now += 2; // 500 a second
    fold(`h${number}`);
    fold('busy');
    if (number % 2_000 === 1_999)
      inMemory.push(Array.from({ length: number + 1 }, (_, i) => cache.has(`h${i}`)).filter(Boolean).length);
  }
  expect(inMemory).toEqual([2_000, 2_501, 2_501, 2_501, 2_501]);
  expect(cache.has('busy')).toBe(true);
});
