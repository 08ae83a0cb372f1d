import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAirline, type Airline } from './airline.ts';

let airline: Airline;
beforeAll(async () => {
  airline = await openAirline();
});
afterAll(() => airline.close());

const history = 'airline';

test('events of one node are read in pages, from its timeline', async () => {
  const all = await airline.client.events({ history, node: 'found' });
  expect(all.events.map(({ event }) => event.type)).toEqual(['NodeInserted', 'NodeExpired']);
  const first = await airline.client.events({ history, node: 'found', limit: 1 });
  expect(first.events.map(({ seq }) => seq + 1)).toEqual([first.next]);
  const rest = await airline.client.events({ history, node: 'found', from: first.next ?? 0 });
  expect(rest).toEqual({ history: all.history, events: all.events.slice(1), next: null });
  await expect(airline.client.events({ history, node: 'nobody' })).rejects.toMatchObject({
    code: 'E_NODE_NOT_FOUND',
  });
});
