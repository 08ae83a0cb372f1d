import { isAlive } from '@stemma/machine';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { queryObjects } from 'node:v8';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { upstreamsOf } from '../../src/index.ts';
import { decodeEntry, encodeEntry, type EntryRef } from '../../src/proxy/entry.ts';
import type { RecordedEntry } from '../../src/proxy/call-sink.ts';
import { openProxy, type Proxy, type ProxyOptions } from '../../src/proxy/open-proxy.ts';
import { chatAnswer, startUpstream, type Upstream } from './scripted-upstream.ts';

type Asked = {
  readonly ref: EntryRef;
  readonly answer: (outcome: RecordedEntry) => void;
  /** The end that is recorded with it. */
  readonly end: EntryRef | undefined;
};

let directory: string;
let upstream: Upstream;
let server: Server | undefined;
let proxy: Proxy | undefined;
let asked: Asked[] = [];
/** The upstream answers when this resolves. */
let hold: () => Promise<void>;
const counted: string[] = [];
const warnings: string[] = [];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-proxy-'));
  hold = () => Promise.resolve();
  upstream = await startUpstream(async (_, outgoing) => {
    await hold();
    outgoing.end(chatAnswer('Yes'));
  });
  asked = [];
  counted.length = 0;
  warnings.length = 0;
});
afterEach(async () => {
  await proxy?.close();
  server?.closeAllConnections();
  server?.close();
  await upstream.close();
  rmSync(directory, { recursive: true, force: true });
});
const open = async (options: Partial<ProxyOptions> = {}): Promise<string> => {
  const opened = await openProxy({
    directory,
    upstreams: upstreamsOf({ STEMMA_UPSTREAM_OPENAI: `${upstream.url}/v1` }),
    // A log that is away: nothing is recorded until a test says so.
    sink: {
      record: (ref, answer, how) => void asked.push({ ref, answer, end: how?.end }),
      mayBeSteered: () => false,
      steer: () => Promise.resolve({ kind: 'untouched' }),
    },
    redacts: false,
    endWithin: 0,
    warn: (sentence) => warnings.push(sentence),
    count: (what) => counted.push(what),
    ...options,
  });
  proxy = opened;
  server = createServer((incoming, outgoing) => opened.handle(incoming, outgoing)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/proxy/openai/chat/completions`;
};
const call = async (url: string, text: string): Promise<number> => {
  const messages = [{ role: 'user', content: text }];
  const response = await fetch(url, { method: 'POST', body: JSON.stringify({ model: 'm', messages }) });
  await response.text();
  return response.status;
};
const files = (): string[] => readdirSync(join(directory, 'calls'));
const textOf = (ref: EntryRef): string => ('bytes' in ref ? Buffer.from(ref.bytes).toString() : '');
const branch = { history: 'h', branchId: 0 };
const buffers = (): number => queryObjects(Buffer, { format: 'count' });

test(
  'while the log is away calls go on, and wait in a file until they are recorded',
  { tags: ['calls§4.5'] },
  async () => {
    const url = await open();
    for (let i = 0; i < 5; i++) expect(await call(url, `Question ${i}`)).toBe(200);
    await vi.waitFor(() => expect(asked).toHaveLength(10));
    expect(files()).toHaveLength(1);
    expect(proxy?.counts()).toMatchObject({ calls: 5, dropped: 0 });
    const backlog = proxy?.backlog();
    expect(backlog).toMatchObject({
      calls: 10,
      bytes: statSync(join(directory, 'calls', files()[0] as string)).size,
    });
    expect(backlog?.seconds).toBeGreaterThan(0);
    for (const { answer } of asked.splice(0)) answer({ branch });
    expect(await proxy?.drained(60_000)).toBe(0);
    expect(proxy?.backlog()).toEqual({ calls: 0, bytes: 0, seconds: 0 });
    await vi.waitFor(() => expect(statSync(join(directory, 'calls', files()[0] as string)).size).toBe(0));
    expect(counted).toEqual(Array.from({ length: 5 }, () => 'recorded'));
    await proxy?.close();
    expect(files()).toEqual([]);
  },
);

test(
  'what waits is bounded: what has no room is dropped, counted and said, and the call goes on',
  { tags: ['calls§4.5'] },
  async () => {
    const url = await open({ limit: 2_000 });
    for (let i = 0; i < 20; i++) expect(await call(url, 'x'.repeat(200))).toBe(200);
    const { calls, dropped } = proxy?.counts() ?? { calls: 0, dropped: 0 };
    expect(calls).toBe(20);
    expect(dropped).toBeGreaterThan(10);
    expect(counted.filter((each) => each === 'dropped')).toHaveLength(dropped);
    expect(warnings).toEqual([expect.stringMatching(/were not recorded/)]);
  },
);

test(
  'a call that ends soon is recorded in one, and needs no more room',
  { tags: ['calls§4.5'] },
  async () => {
    const url = await open({ endWithin: 600_000 });
    for (let i = 0; i < 3; i++) expect(await call(url, `Question ${i}`)).toBe(200);
    await vi.waitFor(() => expect(asked).toHaveLength(3));
    for (const { answer, end } of asked) {
      expect(end).toBeDefined();
      answer({ branch });
    }
    expect(await proxy?.drained(60_000)).toBe(0);
    expect(counted).toEqual(['recorded', 'recorded', 'recorded']);
    await vi.waitFor(() => expect(statSync(join(directory, 'calls', files()[0] as string)).size).toBe(0));
  },
);

test.each([
  // The recorder has as many as it takes at a time; of calls of one run only the newest may end before others begin.
  { place: 'proxy', joined: ['Question 128', 'Question 129', 'Question 130'] },
  { place: 'proxy/run/r', joined: ['Question 130'] },
])(
  'of $place, calls that end while their starts wait for the recorder are recorded in one',
  { tags: ['calls§4.5'] },
  async ({ place, joined }) => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    hold = () => promise;
    const url = (await open({ endWithin: 1, recordAfter: 0 })).replace('proxy', place);
    const calls: Promise<number>[] = [];
    for (let i = 0; i <= 130; i++) {
      calls.push(call(url, `Question ${i}`));
      await vi.waitFor(() => expect(asked.length).toBe(Math.min(i + 1, 128)), { interval: 1 });
      if (i >= 128) await vi.waitFor(() => expect(proxy?.counts().calls).toBe(i + 1), { interval: 1 });
    }
    resolve(undefined);
    expect(await Promise.all(calls)).toEqual(calls.map(() => 200));
    let at = 0;
    await vi.waitFor(
      () => {
        for (; at < asked.length; at++) asked[at]?.answer({ branch });
        expect(counted).toEqual(calls.map(() => 'recorded'));
      },
      { interval: 1 },
    );
    expect(asked).toHaveLength(2 * calls.length - joined.length);
    const whole = asked.filter(({ end }) => end !== undefined);
    expect(whole.map(({ ref }) => textOf(ref).match(/Question \d+/)?.[0])).toEqual(joined);
    expect(await proxy?.drained(60_000)).toBe(0);
    await vi.waitFor(() => expect(statSync(join(directory, 'calls', files()[0] as string)).size).toBe(0));
  },
);

test(
  'of calls that wait whole, nothing of what was noted stays in memory: it is in the file',
  { tags: ['long', 'calls§4.5'] },
  async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    let held = 0;
    hold = () => {
      held++;
      return promise;
    };
    const url = await open({ endWithin: 1, recordAfter: 0 });
    const many = 256;
    const calls = Array.from({ length: many }, (_, i) => call(url, `Question ${i}`));
    // The recorder has as many as it takes at a time, and answers none; the others wait behind these.
    await vi.waitFor(() => expect([held, asked.length]).toEqual([many, 128]), { timeout: 20_000 });
    const before = buffers();
    resolve(undefined);
    await Promise.all(calls);
    await vi.waitFor(() => expect(proxy?.backlog().calls).toBe(2 * many), { timeout: 20_000 });
    // What each call held that has ended is gone, and nothing has come instead.
    expect(buffers()).toBeLessThan(before - (many - 128));
  },
);

test(
  'calls that follow one another at once are recorded together, in their order',
  { tags: ['calls§4.5'] },
  async () => {
    const url = await open({ endWithin: 600_000, recordAfter: 200 });
    for (let i = 0; i < 3; i++) {
      expect(await call(url, `Question ${i}`)).toBe(200);
      expect(asked).toEqual([]);
    }
    await vi.waitFor(() => expect(asked.length).toBeGreaterThan(0));
    expect(asked.map(({ ref }) => textOf(ref).match(/Question \d/)?.[0])).toEqual([
      'Question 0',
      'Question 1',
      'Question 2',
    ]);
  },
);

test(
  'a call that may be steered is decided on what was noted before it',
  { tags: ['calls§4.5'] },
  async () => {
    let steered: number | undefined;
    const url = await open({
      endWithin: 600_000,
      recordAfter: 600_000,
      sink: {
        record: (ref, answer, how) => void asked.push({ ref, answer, end: how?.end }),
        mayBeSteered: () => steered !== undefined,
        steer: () => {
          steered = asked.length;
          return Promise.resolve({ kind: 'untouched' });
        },
      },
    });
    await call(url, 'Question 0');
    expect(asked).toEqual([]);
    steered = -1;
    await call(url, 'Question 1');
    expect(steered).toBe(1);
  },
);

test('a call that lasts longer is recorded before it ends', { tags: ['calls§4.5'] }, async () => {
  const url = await open({ endWithin: 1 });
  const ends: (() => void)[] = [];
  hold = () => new Promise<void>((resolve) => ends.push(resolve));
  const answered = call(url, 'Question');
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  expect(asked[0]?.end).toBeUndefined();
  for (const end of ends) end();
  expect(await answered).toBe(200);
  await vi.waitFor(() => expect(asked).toHaveLength(2));
});

test(
  'calls of one place are recorded in the order in which they began, whichever ends first',
  { tags: ['calls§4.5'] },
  async () => {
    const url = await open({ endWithin: 600_000 });
    const ends: (() => void)[] = [];
    hold = () => new Promise<void>((resolve) => ends.push(resolve));
    const first = call(url, 'First');
    await vi.waitFor(() => expect(ends).toHaveLength(1));
    hold = () => Promise.resolve();
    expect(await call(url, 'Second')).toBe(200);
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    const texts = asked.map(({ ref }) => ('bytes' in ref ? Buffer.from(ref.bytes).toString() : ''));
    expect(texts[0]).toContain('First');
    expect(texts[1]).toContain('Second');
    expect(asked.map(({ end }) => end !== undefined)).toEqual([false, true]);
    for (const end of ends) end();
    expect(await first).toBe(200);
    await vi.waitFor(() => expect(asked).toHaveLength(3));
  },
);

test('where rules take secrets out, nothing waits in a file', { tags: ['calls§4.5'] }, async () => {
  const url = await open({ redacts: true });
  await call(url, 'Question');
  await vi.waitFor(() => expect(asked).toHaveLength(2));
  expect(files()).toEqual([]);
  expect(asked.every(({ ref }) => 'bytes' in ref)).toBe(true);
});

test('a refused call is counted and said, and keeps no room', { tags: ['calls§4.5'] }, async () => {
  const url = await open();
  await call(url, 'Question');
  await vi.waitFor(() => expect(asked).toHaveLength(2));
  for (const { answer } of asked) answer({ refused: { code: 'E_HISTORY_ERASED', message: 'it was erased' } });
  expect(proxy?.counts()).toMatchObject({ refused: 1 });
  expect(warnings[0]).toContain('E_HISTORY_ERASED');
});

test(
  'what a process left is recorded by the next one, up to a cut or damaged entry, which is said',
  { tags: ['calls§4.5'] },
  async () => {
    const url = await open();
    for (let i = 0; i < 3; i++) await call(url, `Question ${i}`);
    await vi.waitFor(() => expect(asked).toHaveLength(6));
    // The first call is recorded; the others are not.
    for (const { answer } of asked.slice(0, 2)) answer({ branch });
    await proxy?.drained(1);
    await proxy?.close();
    const folder = join(directory, 'calls');
    // The process ended: another one has its number.
    const gone = files()[0]?.replace(/^\d+-\d+/, '4194303-1') as string;
    renameSync(join(folder, files()[0] as string), join(folder, gone));
    expect(isAlive(4194303, '1')).toBe(false);
    const [first, second] = ['one', 'two'].map((id) =>
      Buffer.concat(
        encodeEntry(
          {
            kind: 'started',
            id,
            place: null,
            method: 'POST',
            path: '/v1/messages',
            coding: null,
            whole: true,
          },
          [Buffer.from('{}')],
        ),
      ),
    ) as [Buffer, Buffer];
    second[second.length - 1] = 0;
    writeFileSync(join(folder, '4194303-1-0-1.calls'), Buffer.concat([first, second, first]));
    writeFileSync(join(folder, '4194303-1-0-2.calls'), first.subarray(0, -1));
    asked = [];
    server?.close();
    await open();
    // Of the two calls one command each records beginning and end.
    expect(asked).toHaveLength(3);
    expect(asked.filter(({ end }) => end !== undefined)).toHaveLength(2);
    expect(warnings).toEqual([expect.stringMatching(/damaged at byte \d+/)]);
    for (const { answer } of asked) answer({ branch });
    await proxy?.close();
    expect(files().filter((name) => name.startsWith('4194303'))).toEqual(['4194303-1-0-1.calls.damaged']);
  },
);

test('any entry is read as it was written, and no bytes of one are taken for another', () => {
  const entry = { kind: 'done', id: 'c', what: 'ended' } as const;
  const bytes = Buffer.concat(encodeEntry(entry));
  expect(decodeEntry(bytes, 0)).toMatchObject({ entry, next: bytes.length });
  for (let cut = 0; cut < bytes.length; cut++) expect(decodeEntry(bytes.subarray(0, cut), 0)).toBe(undefined);
  for (let at = 12; at < bytes.length; at++) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] as number) ^ 1;
    expect(() => decodeEntry(flipped, 0)).toThrow(/damaged/);
  }
});

test('a call that cannot be recorded is counted once, and said once', async () => {
  const url = await open();
  expect(await call(url, 'Question')).toBe(200);
  await vi.waitFor(() => expect(asked).toHaveLength(2));
  const refused = { code: 'E_INPUT_SHAPE', message: 'it has no shape' };
  for (const { answer } of asked.splice(0)) answer({ refused });
  expect(proxy?.counts()).toMatchObject({ calls: 1, refused: 1 });
  expect(warnings).toEqual(['a call cannot be recorded: it has no shape (E_INPUT_SHAPE)']);
  await vi.waitFor(() =>
    expect(files().filter((name) => statSync(join(directory, 'calls', name)).size > 0)).toEqual([]),
  );
});
