import { compareCodePoints } from '@stemma/canonical';
import { sized } from '@stemma/test-kit';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openOutlives, type AgentCall, type LoggedCall } from './outlives-kit.ts';

let kit: Awaited<ReturnType<typeof openOutlives>>;
beforeEach(async () => {
  kit = await openOutlives();
});
afterEach(() => kit.close());

/** Kills of each kind; `STEMMA_KILLS=50` takes some minutes. */
const KILLS = Number(process.env['STEMMA_KILLS'] ?? sized(10, 20));
/** An agent's calls take about so long, in milliseconds. */
const LENGTH = 500;

/** Numbers in [0, 1) that a seed decides (mulberry32). */
const openRandom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
const SEED = Number(process.env['STEMMA_SEED'] ?? 44);

const untilAsked = async (name: string): Promise<void> => {
  await expect
    .poll(() => kit.asked.some((asked) => asked.startsWith(`${name}-`)), { timeout: 60_000, interval: 5 })
    .toBe(true);
};
const inOrder = (texts: readonly string[]): readonly string[] => texts.toSorted(compareCodePoints);
const once = (logged: readonly LoggedCall[]): ReadonlyMap<string, LoggedCall> => {
  const byAsked = new Map(logged.map((call) => [call.asked, call]));
  // Each call is another question.
  expect(byAsked.size).toBe(logged.length);
  return byAsked;
};

test(
  'no call fails because recorders are killed, and all are recorded, once',
  { timeout: 1_200_000 },
  async () => {
    const random = openRandom(SEED);
    for (let i = 0; i < KILLS; i++) {
      const run = kit.recordAgent(`r${i}`, 3, 3);
      await untilAsked(`r${i}`);
      await sleep(random() * LENGTH);
      run.signal('SIGKILL');
      await kit.agentEnded(`r${i}`);
    }
    await kit.noForwarder();
    const calls = kit.agentCalls();
    expect(calls.filter(({ fault }) => fault !== null)).toEqual([]);
    expect(calls).toHaveLength(9 * KILLS);
    expect(await kit.record(['true']).ended).toBe(0);
    const logged = once(await kit.logged());
    expect(inOrder([...logged.keys()])).toEqual(inOrder(kit.asked));
    for (const { asked, got } of calls)
      expect(logged.get(asked)).toEqual({ asked, got, status: 'answered', error: null });
    expect((await kit.stemma('verify')).code).toBe(0);
  },
);

test(
  'calls go on when forwarders are killed, and nothing that a client was given is missing, or recorded twice',
  { timeout: 1_200_000 },
  async () => {
    const random = openRandom(SEED);
    const PER_RUN = 5;
    for (let i = 0; i < KILLS / PER_RUN; i++) {
      const run = kit.recordAgent(`f${i}`, 3, 20);
      await untilAsked(`f${i}`);
      for (let kill = 0; kill < PER_RUN; kill++) {
        await sleep(random() * LENGTH);
        for (const pid of kit.forwarders()) process.kill(pid, 'SIGKILL');
      }
      expect(await run.ended).toBe(0);
    }
    expect(kit.forwarders()).toEqual([]);
    const logged = once(await kit.logged());
    const calls = kit.agentCalls();
    const uncut = calls.filter(({ fault }) => fault === null);
    // Each kill cuts three calls at most; no client is refused.
    expect(calls.length - uncut.length).toBeLessThanOrEqual(3 * KILLS);
    expect(calls.filter(({ fault }) => fault === 'ECONNREFUSED')).toEqual([]);
    for (const call of calls) expect(whyNotKept(call, logged.get(call.asked))).toBeUndefined();
    expect((await kit.stemma('verify')).code).toBe(0);
  },
);

/** What is wrong with how a call is recorded; undefined: nothing. One that came when a forwarder ended may have been read by nobody. */
const whyNotKept = ({ asked, got, fault }: AgentCall, logged: LoggedCall | undefined): string | undefined => {
  if (logged === undefined) return got === '' && fault !== null ? undefined : `${asked} is not recorded`;
  if (fault === null)
    return logged.status === 'answered' && logged.got === got ? undefined : `${asked} is not what came`;
  if (!logged.got.startsWith(got)) return `${asked} misses what its client was given`;
  // A forwarder may end when it has noted the end of an answer, and its client has not read it: then the record has all of it.
  const isWhole = logged.status === 'answered' && logged.got.endsWith('[DONE]\n\n');
  return isWhole || logged.status === 'failed' ? undefined : `${asked} is ${logged.status}, and was cut`;
};
