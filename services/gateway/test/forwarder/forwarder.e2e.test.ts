import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { forkForwarder } from '../../src/forwarder/forwarder-child.ts';
import {
  openForwarder,
  type Forwarder,
  type OpenForwarderOptions,
} from '../../src/forwarder/open-forwarder.ts';
import type { RecordedEntry } from '../../src/proxy/call-sink.ts';
import { openJournal } from '../../src/proxy/journal.ts';
import { CallCounter } from '../../src/proxy/proxy-counts.ts';
import { chatAnswer } from '../proxy/scripted-upstream.ts';

let directory: string;
let upstream: Server;
let forwarder: Forwarder | undefined;
const said: string[] = [];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-forwarder-'));
  said.length = 0;
  upstream = createServer((incoming, outgoing) => {
    incoming.resume().on('end', () => outgoing.end(chatAnswer('Yes')));
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
});
afterEach(async () => {
  await forwarder?.close();
  await forwarder?.end();
  forwarder = undefined;
  upstream.closeAllConnections();
  upstream.close();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
});

const counter = new CallCounter(
  () => undefined,
  () => undefined,
);
type Recorded = (outcome: RecordedEntry) => void;

/** A forwarder, and the answers that it waits for: nothing is recorded until a test says so. */
const open = async (options: Partial<OpenForwarderOptions> = {}): Promise<readonly Recorded[]> => {
  const waiting: Recorded[] = [];
  const steered = { histories: ['talk'], scopes: [] };
  forwarder = await openForwarder({
    first: forkForwarder(),
    home: {
      redacts: false,
      calls: {
        record: (_ref, answer) => void waiting.push(answer),
        mayBeSteered: () => true,
        // Held for ever.
        steer: () => new Promise(() => undefined),
      },
      scopes: {
        known: () => ({ scopes: steered, version: 'none' }),
        read: () => Promise.resolve(),
        listen: () => undefined,
      },
    },
    options: {
      directory,
      upstreams: { openai: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1` },
      intercept: null,
      host: '127.0.0.1',
      port: 0,
    },
    counter,
    tunnelled: () => undefined,
    warn: (sentence) => void said.push(sentence),
    ...options,
  });
  return waiting;
};
const call = async (place: string): Promise<string> => {
  const messages = [{ role: 'user', content: 'Is it?' }];
  const response = await fetch(`${forwarder?.url}/proxy/${place}/openai/chat/completions`, {
    ...{ method: 'POST', body: JSON.stringify({ model: 'm', messages }) },
  });
  return response.text();
};
/** Ends the process that forwards now. @returns resolves when the next one does */
const killForwarder = async (): Promise<void> => {
  const pid = forwarder?.pid() ?? 0;
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => forwarder?.pid(), { timeout: 60_000 }).not.toBe(pid);
};

test(
  'a home that ends lets held calls go as they came, and what is noted waits',
  { timeout: 120_000 },
  async () => {
    await open();
    const held = call('history/talk');
    await expect.poll(() => readdirSync(join(directory, 'calls')).length, { timeout: 60_000 }).toBe(1);
    forwarder?.away('the home has ended');
    expect(await held).toBe(chatAnswer('Yes'));
    expect(await call('history/talk')).toBe(chatAnswer('Yes'));
    expect(await call('run/r')).toBe(chatAnswer('Yes'));
    // Two calls whose beginnings are noted apart from their ends, and one whose are together.
    expect(await forwarder?.drained(60_000)).toBeGreaterThan(0);
    expect(said).toEqual(['a call was not steered: the home has ended']);
    await forwarder?.close();
    await forwarder?.end();
    const { left } = await openJournal({
      ...{ directory, limit: 1_000_000, inMemory: false },
      warn: (sentence) => void said.push(sentence),
    });
    for (const kind of ['started', 'ended'])
      expect(left.filter((each) => each.kind === kind)).toHaveLength(3);
  },
);

test(
  'what the home still records for a forwarder that was killed is not given to it once more meanwhile',
  { timeout: 120_000 },
  async () => {
    const waiting = await open();
    await call('run/r');
    await expect.poll(() => waiting.length, { timeout: 60_000 }).toBe(1);
    await killForwarder();
    const next = call('run/r');
    expect(await next).toBe(chatAnswer('Yes'));
    const drained = forwarder?.drained(60_000);
    expect(waiting).toHaveLength(1);
    waiting[0]?.({ branch: { history: 'h', branchId: 0 } });
    // What was left of the first one, which the home knows by its id, and the second one.
    await expect.poll(() => waiting.length, { timeout: 60_000 }).toBe(3);
    for (const recorded of waiting.slice(1)) recorded({ branch: { history: 'h', branchId: 0 } });
    expect(await drained).toBe(0);
  },
);

test(
  'a forwarder that ends at once, and once more, is given up, and that is said',
  { timeout: 120_000 },
  async () => {
    await open({ restarts: { most: 1, lived: 60_000, first: 0, longest: 0 } });
    await killForwarder();
    process.kill(forwarder?.pid() ?? 0, 'SIGKILL');
    expect(await forwarder?.drained(60_000)).toBe(0);
    expect(said.at(-1)).toMatch(/^the forwarder ended 2 times \(SIGKILL\): calls fail from now on/);
  },
);
