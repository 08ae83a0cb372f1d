import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAirline, START, type Airline } from './airline.ts';

let airline: Airline;
beforeAll(async () => {
  airline = await openAirline();
});
afterAll(() => airline.close());

test('doctor reports the place of the log inside the home but not the path of the home, the progress of the rows, and that it found no problem', async () => {
  expect((await airline.client.histories({})).damage).toEqual([]);
  const { log, partitions, clock, versions, ...rest } = await airline.client.doctor({});
  expect(log.address).toBe('<home>/log');
  expect(versions).toMatchObject({
    node: process.versions.node,
    rows: [expect.stringMatching(/^history-store@\d+/)],
  });
  expect(rest).toEqual({
    keepsItsEnd: true,
    topic: null,
    histories: 2,
    stopped: [],
    altered: [],
    findings: [],
  });
  expect(partitions).toMatchObject([{ partition: 0, start: 0, lag: 0, damaged: 0, closed: false }]);
  expect(clock.newest).toBeGreaterThan(Number(START / 1_000_000n));
  expect(clock.now).toBeGreaterThanOrEqual(clock.newest ?? 0);
});
