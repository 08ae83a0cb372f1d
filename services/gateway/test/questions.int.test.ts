import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAirline, type Airline } from './airline.ts';

let airline: Airline;
beforeAll(async () => {
  airline = await openAirline();
});
afterAll(() => airline.close());

test(
  'cache compares each call with the one before it and names the nodes that changed the prefix',
  { tags: ['context-tree§4:provider-thread'] },
  async () => {
    const { calls, verdicts, steps, worst } = await airline.client.cache({ history: 'airline' });
    expect([calls, verdicts, worst]).toEqual([3, { append: 1, rewind: 0, break: 1 }, [1]]);
    expect(steps[1]).toMatchObject({
      from: '@c2',
      to: '@c3',
      verdict: 'break',
      broken: { node: 'found', what: 'removed', cause: { kind: 'expiry' }, entered: { command: 'one' } },
    });
    const page = await airline.client.cache({ history: 'airline', from: 1, limit: 1 });
    expect([page.calls, page.from, page.next, page.steps]).toEqual([3, 1, null, [steps[1]]]);
    expect(await airline.client.cache({ history: 'airline', limit: 1 })).toMatchObject({
      worst: [1],
      next: 1,
      steps: [steps[0]],
    });
    await expect(airline.client.cache({ history: 'nobody' })).rejects.toMatchObject({
      code: 'E_HISTORY_NOT_FOUND',
    });
  },
);

test(
  'calls lists for each call the messages after those that it shares with the call before, a page at a time',
  { tags: ['context-tree§4:provider-thread'] },
  async () => {
    const history = 'airline';
    const { calls, next, ...branch } = await airline.client.calls({ history });
    const { history: id } = await airline.client.history({ history });
    expect([branch, next]).toEqual([{ history: id, branch: id, branchId: 0 }, null]);
    expect(calls.map(({ label, messages, shared }) => [label, messages, shared])).toEqual([
      ['@c1', 3, 0],
      ['@c2', 5, 3],
      ['@c3', 5, 2],
    ]);
    let thread: readonly unknown[] = [];
    for (const { label: at, shared, following } of calls) {
      thread = [...thread.slice(0, shared), ...following];
      expect(thread).toEqual(JSON.parse(await airline.client.thread({ history, at })));
    }
    const first = await airline.client.calls({ history, limit: 2 });
    expect([first.calls, first.next]).toEqual([calls.slice(0, 2), 2]);
    const last = await airline.client.calls({ history, limit: 2, after: 2 });
    expect([last.calls, last.next]).toEqual([calls.slice(2), null]);
    expect(await airline.client.calls({ history: 'other' })).toMatchObject({ calls: [], next: null });
    await expect(airline.client.calls({ history: 'nobody' })).rejects.toMatchObject({
      code: 'E_HISTORY_NOT_FOUND',
    });
  },
);

test(
  'sizes gives each call in messages and tokens, whose regions and roles add up, with what entered and what was removed, a page at a time',
  { tags: ['context-tree§4:provider-thread'] },
  async () => {
    const { sizes, next, tokenizer } = await airline.client.sizes({ history: 'airline' });
    expect([tokenizer, next]).toEqual(['o200k_base', null]);
    expect(sizes.map(({ cycle, messages, entered, removed }) => [cycle, messages, entered, removed])).toEqual(
      [
        [1, 3, 3, 0],
        [2, 5, 2, 0],
        // The document that lived for one more snapshot has expired.
        [3, 5, 1, 1],
      ],
    );
    const sum = (parts: Readonly<Record<string, number>>): number =>
      Object.values(parts).reduce((all, each) => all + each, 0);
    for (const { cycle, tokens, regions, roles } of sizes) {
      const compared = await airline.client.compare({ history: 'airline', a: `@c${cycle}`, b: `@c${cycle}` });
      expect([sum(regions), sum(roles), regions.head]).toEqual([tokens, tokens, 0]);
      expect(compared.a.tokens).toBe(tokens);
    }
    expect(sizes.map(({ regions: { sys, earlier } }) => [sys, earlier > 0])).toEqual([
      [3, false],
      [3, true],
      [3, true],
    ]);
    const page = await airline.client.sizes({ history: 'airline', after: 1, limit: 1 });
    expect([page.sizes, page.next]).toEqual([[sizes[1]], 2]);
    const rest = await airline.client.sizes({ history: 'airline', after: 2, limit: 1 });
    expect([rest.sizes, rest.next]).toEqual([[sizes[2]], null]);
    expect(await airline.client.sizes({ history: 'other' })).toMatchObject({ sizes: [], next: null });
  },
);

test(
  'a message that differs says how many blocks of each side stand before it',
  { tags: ['context-tree§7'] },
  async () => {
    const { threads } = await airline.client.compare({ history: 'airline', a: '@c2', b: '@c3' });
    expect(threads.differences.map(({ what, at, a, b }) => [what, at, a[0]?.id, b[0]?.id])).toEqual([
      ['only-a', { a: 2, b: 2 }, 'found', undefined],
      ['only-b', { a: 5, b: 4 }, undefined, 'done'],
    ]);
  },
);

test('histories are listed by a text in their name, the beginning of their id, and the time of their last change', async () => {
  const namesOf = async (filter: { name?: string; since?: number; limit?: number; skip?: number }) => {
    const { total, histories } = await airline.client.histories(filter);
    return [total, histories.map(({ name }) => name)];
  };
  const { histories } = await airline.client.histories({});
  const [newest, oldest] = histories;
  expect(await namesOf({ name: 'AIRl' })).toEqual([1, ['airline']]);
  expect(await namesOf({ name: newest?.history.slice(0, 5) ?? '' })).toEqual([1, [newest?.name]]);
  expect(await namesOf({ name: 'nobody' })).toEqual([0, []]);
  expect(await namesOf({ since: newest?.updatedAt ?? 0 })).toEqual([1, [newest?.name]]);
  expect(await namesOf({ since: (newest?.updatedAt ?? 0) + 1 })).toEqual([0, []]);
  expect(await namesOf({ since: oldest?.updatedAt ?? 0 })).toEqual([2, [newest?.name, oldest?.name]]);
  expect(await namesOf({ limit: 1, skip: 1 })).toEqual([2, [oldest?.name]]);
});
