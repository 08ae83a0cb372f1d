import { expect, it } from 'vitest';
import { openEvictionOrder } from '../src/eviction-order.ts';

/** A memory of so many bytes, and how many of the keys that it was asked for were in it. */
const memory = (capacity: number, stays?: (key: string) => boolean) => {
  const order = openEvictionOrder(capacity, stays);
  const held = new Map<string, number>();
  return {
    held,
    order,
    /** True if the key was there. */
    use: (key: string, bytes = 1): boolean => {
      const was = held.has(key);
      held.set(key, bytes);
      for (const left of order.use(key, bytes)) expect(held.delete(left)).toBe(true);
      return was;
    },
    bytes: () => [...held.values()].reduce((sum, each) => sum + each, 0),
  };
};

const hits = (use: (key: string) => boolean, keys: readonly string[]): number =>
  keys.reduce((count, key) => count + (use(key) ? 1 : 0), 0);

const inTurn = (count: number, rounds: number): string[] =>
  Array.from({ length: count * rounds }, (_, i) => `h${i % count}`);

it('of those that are used in turn, most are found in memory, though not all have room', () => {
  const { use, bytes } = memory(80);
  hits((key) => use(key, 8), inTurn(12, 3));
  expect(bytes()).toBeLessThanOrEqual(80);
  // Ten have room, of which one place is for newcomers.
  expect(hits((key) => use(key, 8), inTurn(12, 10))).toBeGreaterThanOrEqual(80);
});

it('all that have room stay', () => {
  const { use } = memory(12);
  hits(use, inTurn(12, 1));
  expect(hits(use, inTurn(12, 10))).toBe(120);
});

it('those that are used again and again take the place of those that are not used any more', () => {
  const { use } = memory(16);
  hits(use, inTurn(16, 4));
  const others = Array.from({ length: 160 }, (_, i) => `other${i % 8}`);
  hits(use, others);
  expect(hits(use, others)).toBe(160);
  // As they come back sooner than they left, though none is found at first: twelve others in turn.
  const more = Array.from({ length: 120 }, (_, i) => `more${i % 12}`);
  hits(use, more);
  expect(hits(use, more)).toBe(120);
});

it('conversations that follow each other are found in memory from their second use on, though old ones fill it', () => {
  const { use } = memory(16);
  hits(use, inTurn(16, 4));
  const three = (group: number): string[] =>
    Array.from({ length: 30 }, (_, i) => `conversation ${group * 3 + (i % 3)}`);
  const found = Array.from({ length: 20 }, (_, group) => hits(use, three(group)));
  // Two of three are known when they come back; the third came when there was room for two newcomers.
  for (const count of found) expect(count).toBeGreaterThanOrEqual(26);
});

it('several uses on end are one', () => {
  const { use } = memory(80);
  const uses = (rounds: number): number =>
    inTurn(12, rounds).reduce((count, key) => {
      const found = use(key, 8);
      for (let i = 0; i < 5; i++) use(key, 8);
      return count + (found ? 1 : 0);
    }, 0);
  uses(3);
  expect(uses(10)).toBeGreaterThanOrEqual(80);
});

it('what grows makes the others leave, but neither the one that is used nor one that must stay', () => {
  const staying = new Set(['h0']);
  const { use, held, order } = memory(10, (key) => staying.has(key));
  hits(use, inTurn(10, 1));
  use('h9', 8);
  expect(new Set(held.keys())).toEqual(new Set(['h0', 'h8', 'h9']));
  use('h9', 100);
  expect(new Set(held.keys())).toEqual(new Set(['h0', 'h9']));
  staying.clear();
  order.resize('h9', 5);
  order.resize('nobody', 5);
  use('h0', 5);
  expect(new Set(held.keys())).toEqual(new Set(['h0', 'h9']));
  use('h1');
  expect(held.size).toBe(2);
});

it('who was forgotten leaves room', () => {
  const { use, order, held } = memory(3);
  hits(use, ['a', 'b', 'c']);
  for (const key of ['a', 'b', 'unknown']) order.forget(key);
  held.delete('a');
  held.delete('b');
  hits(use, ['d', 'e']);
  expect([...held.keys()]).toEqual(['c', 'd', 'e']);
});

it('who was not used for a while leaves, the oldest first, down to a floor, and counts as gone', () => {
  const staying = new Set(['h1']);
  const { order } = memory(100, (key) => staying.has(key));
  for (let i = 0; i < 10; i++) expect(order.use(`h${i}`, 10, i)).toEqual([]);
  expect(order.leaveUnused(0, 0)).toEqual([]);
  expect(order.leaveUnused(5, 70)).toEqual(['h0', 'h2', 'h3']);
  expect(order.use('h4', 10, 10)).toEqual([]);
  expect(order.leaveUnused(6, 0)).toEqual(['h5']);
  // Room for three of them is free again, and for one that stayed.
  expect(order.use('h0', 40, 11)).toEqual([]);
  expect(order.use('h2', 10, 12)).not.toContain('h1');
});
