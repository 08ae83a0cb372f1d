import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { collectGarbage, collectWhenIdle } from './collect-when-idle.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('a thread that was busy is collected once when it is idle, and not while it works', () => {
  const collect = vi.fn();
  const work = collectWhenIdle({ idle: 1_000, collect });
  for (let second = 0; second < 10; second++) {
    for (let n = 0; n < 50; n++) work();
    vi.advanceTimersByTime(1_000);
  }
  expect(collect).toHaveBeenCalledTimes(0);
  vi.advanceTimersByTime(1_000);
  expect(collect).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(60_000);
  expect(collect).toHaveBeenCalledTimes(1);
});

it('a thread that is only asked now and then is left alone', () => {
  const collect = vi.fn();
  const work = collectWhenIdle({ idle: 1_000, collect });
  for (let minute = 0; minute < 30; minute++) {
    work();
    vi.advanceTimersByTime(60_000);
  }
  expect(collect).toHaveBeenCalledTimes(0);
});

it('a collection gives memory back', { tags: ['long'] }, () => {
  const pages = (): number => process.memoryUsage().heapTotal;
  collectGarbage();
  const before = pages();
  let kept: unknown[] = Array.from({ length: 1_000_000 }, (_, n) => ({ n }));
  expect(pages() - before).toBeGreaterThan(10_000_000);
  kept = [];
  collectGarbage();
  expect([kept.length, pages() - before < 10_000_000]).toEqual([0, true]);
});
