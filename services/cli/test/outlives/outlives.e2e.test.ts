import { compareCodePoints } from '@stemma/canonical';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openOutlives } from './outlives-kit.ts';

let kit: Awaited<ReturnType<typeof openOutlives>>;
beforeEach(async () => {
  kit = await openOutlives();
});
afterEach(() => kit.close());

test('an agent whose recorder is killed goes on: no call fails, and the next command records them all', async () => {
  const run = kit.recordAgent('a', 2, 4);
  await expect.poll(() => kit.agentCalls().length, { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
  run.signal('SIGKILL');
  await kit.agentEnded('a');
  await kit.noForwarder();
  expect(kit.agentCalls().map(({ fault }) => fault)).toEqual(Array.from({ length: 8 }, () => null));
  expect(run.printed()).toBe('');
  await kit.record(['true']).ended;
  const logged = await kit.logged();
  expect(logged.map(({ asked, status }) => `${asked} ${status}`).sort(compareCodePoints)).toEqual(
    kit.asked.map((asked) => `${asked} answered`).sort(compareCodePoints),
  );
  expect((await kit.stemma('verify')).code).toBe(0);
});

test('a forwarder that is killed is followed by another one at its address: what it cut ends with an error, later calls go', async () => {
  const run = kit.recordAgent('a', 2, 6);
  await expect.poll(() => kit.agentCalls().length, { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
  const [first = 0, ...more] = kit.forwarders();
  expect(more).toEqual([]);
  process.kill(first, 'SIGKILL');
  expect(await run.ended).toBe(0);
  const calls = kit.agentCalls();
  expect(calls).toHaveLength(12);
  const cut = calls.filter(({ fault }) => fault !== null);
  expect(cut.length).toBeLessThanOrEqual(2);
  const logged = await kit.logged();
  // Of one that came when the forwarder ended, nobody may have read anything.
  const unread = cut.filter(({ asked, got }) => got === '' && !logged.some((each) => each.asked === asked));
  for (const { asked, got } of cut.filter((call) => !unread.includes(call))) {
    const { status, error, got: noted = '' } = logged.find((each) => each.asked === asked) ?? {};
    expect([status, error]).toEqual([
      'failed',
      'the process that forwarded the call ended before the call did',
    ]);
    expect(noted.startsWith(got)).toBe(true);
  }
  const known = calls.filter((call) => !unread.includes(call));
  expect(logged.map(({ asked }) => asked).sort(compareCodePoints)).toEqual(
    known.map(({ asked }) => asked).sort(compareCodePoints),
  );
  expect(run.printed()).toMatch(new RegExp(`^recorded ${known.length} of ${known.length} calls`, 'm'));
  expect((await kit.stemma('verify')).code).toBe(0);
  expect(kit.forwarders()).toEqual([]);
});

test('no forwarder is left by a recorder that ends, is interrupted twice, or is ended with its command', async () => {
  const ended = kit.record(['true']);
  expect(await ended.ended).toBe(0);
  expect(kit.forwarders()).toEqual([]);

  const interrupted = kit.recordAgent('a', 1, 3);
  await expect.poll(() => kit.asked.length, { timeout: 60_000 }).toBeGreaterThan(0);
  interrupted.signal('SIGINT');
  interrupted.signal('SIGINT');
  await interrupted.ended;
  await kit.agentEnded('a');
  await kit.noForwarder();

  const stopped = kit.record([process.execPath, '-e', 'setInterval(() => undefined, 1000)']);
  await expect.poll(() => kit.forwarders().length, { timeout: 60_000 }).toBe(1);
  stopped.signal('SIGTERM');
  await stopped.ended;
  await kit.noForwarder();
});
