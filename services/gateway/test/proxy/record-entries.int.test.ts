import { fail } from '@stemma/errors';
import { openHome, type Home } from '@stemma/home';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { encodeEntry } from '../../src/proxy/entry.ts';
import { openEntryRecorder } from '../../src/proxy/record-entries.ts';
import { chatAnswer } from './scripted-upstream.ts';

const ref = {
  bytes: Buffer.concat(
    encodeEntry(
      {
        ...{ kind: 'started', id: 'c', place: null, method: 'POST', path: '/v1/chat/completions' },
        ...{ coding: null, whole: true },
      },
      [Buffer.from('{"model":"m","messages":[{"role":"user","content":"Hi"}]}')],
    ),
  ),
};
const branch = { history: 'h', branchId: 0, branch: 'h' };

test(
  'a call is tried again while the log is away or the database refuses its user, and said; a recorder that closes gives no answer for it',
  { tags: ['calls§4.5'] },
  async () => {
    const said: string[] = [];
    let isAway = true;
    let tried = 0;
    const home = {
      calls: {
        recordRequest: () => {
          tried++;
          return isAway
            ? Promise.reject(fail('E_IO', 'the log is away'))
            : Promise.resolve({ branch, match: 'started' });
        },
      },
    } as unknown as Home;
    const first = openEntryRecorder(home, (sentence) => void said.push(sentence));
    const recorded = first.record(ref);
    await expect.poll(() => tried).toBeGreaterThan(1);
    isAway = false;
    expect(await recorded).toEqual({ branch: { history: 'h', branchId: 0 } });
    expect(said).toEqual([expect.stringContaining('the log is away'), 'reconnected']);
    // Rights that are taken from the user of a database are given back.
    const database = { refused: true };
    const third = openEntryRecorder(
      {
        calls: {
          recordRequest: () => {
            tried++;
            return database.refused
              ? Promise.reject(fail('E_DATABASE_REFUSED', 'the user may not do this', { state: '42501' }))
              : Promise.resolve({ branch, match: 'started' });
          },
        },
      } as unknown as Home,
      () => undefined,
    );
    tried = 0;
    const refused = third.record(ref);
    await expect.poll(() => tried).toBeGreaterThan(1);
    database.refused = false;
    expect(await refused).toEqual({ branch: { history: 'h', branchId: 0 } });
    isAway = true;
    tried = 0;
    const second = openEntryRecorder(home, () => undefined);
    const waiting = second.record(ref);
    await expect.poll(() => tried).toBeGreaterThan(0);
    second.close();
    expect(await waiting).toBe(undefined);
  },
);

test('what an earlier process left, and another one has settled and removed, is refused by nobody', async () => {
  const file = join(tmpdir(), `stemma-gone-${randomBytes(8).toString('hex')}`);
  const recorder = openEntryRecorder({} as Home, () => undefined);
  const gone = { file, at: 0, length: 100 };
  expect(await recorder.record(gone, true)).toEqual({ settledElsewhere: true });
  // Its own file nobody else removes.
  expect(await recorder.record(gone)).toEqual({
    refused: { code: 'E_INTERNAL', message: expect.stringContaining('ENOENT') as string },
  });
  recorder.close();
});

test(
  'a steered call goes out though the log is away: as it came, and after three seconds at most',
  { tags: ['long', 'calls§5.5'] },
  async () => {
    const away = new Promise<never>(() => undefined);
    const steerWith = (part: object, name = 'h') => {
      const recorder = openEntryRecorder(
        { find: () => Promise.resolve(branch), ...part } as unknown as Home,
        () => undefined,
      );
      const body = Buffer.from('{"model":"m","messages":[{"role":"user","content":"Hi"}]}');
      const entry = { kind: 'started', id: 'c', place: { name, steer: true }, method: 'POST' } as const;
      const gone = new AbortController().signal;
      return recorder
        .steer({ ...entry, path: '/v1/chat/completions', coding: null, whole: true }, body, gone)
        .finally(() => recorder.close());
    };
    const sent = {
      kind: 'sent',
      branch: { history: 'h', branchId: 0 },
      body: Buffer.from('changed'),
    } as const;
    const outcomes = await Promise.all([
      steerWith({ find: () => away }),
      steerWith({ steering: { call: () => Promise.reject(fail('E_IO', 'the disk is gone')) } }),
      // It is on its way, changed; that it is recorded need not be waited for.
      steerWith({ steering: { call: () => Promise.resolve({ ...sent, recorded: away }) } }),
    ]);
    expect(outcomes).toEqual([
      { kind: 'unsteered', reason: 'the log does not answer' },
      { kind: 'unsteered', reason: 'the disk is gone' },
      { ...sent, isRecorded: false },
    ]);
  },
);

test('bodies that become large when they are read are recorded one after the other', async () => {
  let [now, most] = [0, 0];
  const home = {
    calls: {
      recordRequest: async () => {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setImmediate(resolve));
        now--;
        return { branch, match: 'started' };
      },
    },
  } as unknown as Home;
  const recorder = openEntryRecorder(home, () => undefined);
  // So long that it may become too many bytes for others beside it.
  const content = randomBytes(220_000).toString('base64');
  const bodyOf = (id: string) =>
    JSON.stringify({
      model: 'm',
      messages: [
        { role: 'system', content: id },
        { role: 'user', content },
      ],
    });
  const started = (id: string, coding: string | null) => ({
    bytes: Buffer.concat(
      encodeEntry(
        {
          kind: 'started',
          id,
          place: null,
          method: 'POST',
          path: '/v1/chat/completions',
          coding,
          whole: true,
        },
        [coding === null ? Buffer.from(bodyOf(id)) : gzipSync(bodyOf(id))],
      ),
    ),
  });
  const record = (coding: string | null) =>
    Promise.all(Array.from({ length: 8 }, (_, i) => recorder.record(started(`call ${i}`, coding))));
  expect(await record('gzip')).toHaveLength(8);
  expect(most).toBe(1);
  await record(null);
  expect(most).toBeGreaterThan(1);
});

test(
  'a call and its end are recorded in one frame, and once, whatever a process that is killed leaves',
  { tags: ['calls§1.1', 'calls§4.5'] },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stemma-entries-'));
    const home = await openHome({ directory, create: true });
    try {
      const common = { method: 'POST', path: '/v1/chat/completions', coding: null, whole: true } as const;
      const begun = (id: string, body: string) => ({
        bytes: Buffer.concat(
          encodeEntry({ kind: 'started', id, place: { run: 'r' }, ...common }, [Buffer.from(body)]),
        ),
      });
      const ended = (id: string) => ({
        bytes: Buffer.concat(
          encodeEntry(
            {
              ...{ kind: 'ended', id, ...common, status: 'answered', httpStatus: 200, branch: null },
              ...{ contentType: 'application/json', firstByteMs: 1, durationMs: 2, error: null },
            },
            [Buffer.from(chatAnswer(`Answer of ${id}`))],
          ),
        ),
      });
      const said = (...texts: readonly string[]) =>
        JSON.stringify({
          model: 'm',
          messages: texts.map((content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content })),
        });
      // One that begins a conversation, one that goes on, the same again, and one that says no messages.
      const calls = {
        first: said('Hi'),
        second: said('Hi', 'Answer of first', 'And?'),
        again: said('Hi', 'Answer of first', 'And?'),
        strange: '{"model":',
      };
      const recorder = openEntryRecorder(home, () => undefined);
      for (const [id, body] of Object.entries(calls))
        expect(await recorder.record(begun(id, body), false, ended(id))).toHaveProperty('branch');
      const histories = await home.read.histories();
      const frames = histories.map(({ frames: count }) => count);
      expect(frames.toSorted((a, b) => a - b)).toEqual([1, 3]);
      // What was recorded when the process was killed is in its journal: the beginnings, the ends, or both.
      const next = openEntryRecorder(home, () => undefined);
      for (const [id, body] of Object.entries(calls)) {
        const [one, two] = [next.record(begun(id, body), true), next.record(ended(id), true)];
        expect([await one, await two]).toMatchObject([{ branch: {} }, { branch: {} }]);
      }
      expect((await home.read.histories()).map(({ frames: count }) => count)).toEqual(frames);
      for (const { history } of histories)
        for (const { attemptId, status } of (await home.calls.list(await home.find(history))).attempts) {
          expect(status).toBe('answered');
          const { answer } = await home.calls.find(history, attemptId);
          if (attemptId !== 'strange') expect(answer).toMatchObject({ content: `Answer of ${attemptId}` });
          const bytes = await home.calls.body(history, attemptId, 'response');
          expect(Buffer.from(bytes).toString()).toBe(chatAnswer(`Answer of ${attemptId}`));
        }
      // One that was open is still unknown.
      await next.record(begun('open', said('Hi', 'Answer of first', 'And?', 'Yes', 'So?')), true);
      const { history } = histories.find(({ frames: count }) => count === 3) as { history: string };
      expect((await home.calls.list(await home.find(history))).attempts.at(-1)).toMatchObject({
        attemptId: 'open',
        status: 'unknown',
      });
      expect(await home.operations.verify({ rows: 'all' })).toMatchObject({ ok: true, problems: [] });
    } finally {
      await home.close();
      rmSync(directory, { recursive: true, force: true });
    }
  },
);

test(
  'a call that goes on is not recorded before the one that takes longer to read',
  { tags: ['calls§3.1'] },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stemma-entries-'));
    const home = await openHome({ directory, create: true });
    try {
      const recorder = openEntryRecorder(home, () => undefined);
      const common = { method: 'POST', path: '/v1/chat/completions', whole: true } as const;
      const begun = (id: string, ...texts: readonly string[]) => {
        const messages = texts.map((content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }));
        const entry = { kind: 'started', id, place: null, coding: null, ...common } as const;
        return {
          bytes: Buffer.concat(encodeEntry(entry, [Buffer.from(JSON.stringify({ model: 'm', messages }))])),
        };
      };
      const answer = chatAnswer('It is cold. '.repeat(100_000));
      const ended = {
        bytes: Buffer.concat(
          encodeEntry(
            {
              ...{ kind: 'ended', id: 'one', ...common, coding: 'gzip', status: 'answered', httpStatus: 200 },
              ...{
                contentType: 'application/json',
                firstByteMs: 1,
                durationMs: 2,
                error: null,
                branch: null,
              },
            },
            [gzipSync(answer)],
          ),
        ),
      };
      await Promise.all([
        recorder.record(begun('one', 'Hi'), false, ended),
        recorder.record(begun('two', 'Hi', 'It is cold.', 'And now?')),
      ]);
      const [started] = await home.read.histories();
      const { attempts } = await home.calls.list(await home.find(started?.history ?? ''));
      expect(attempts.map(({ attemptId, match }) => [attemptId, match])).toEqual([
        ['one', 'started'],
        ['two', 'appended'],
      ]);
    } finally {
      await home.close();
      rmSync(directory, { recursive: true, force: true });
    }
  },
);

test('a request that says what no event can hold is recorded by its bytes alone', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-entries-'));
  const home = await openHome({ directory, create: true });
  try {
    const body = '{"model":"m","messages":[{"role":"user","content":"Hi"}],"metadata":{"a":1,"a":2}}';
    const entry = {
      kind: 'started',
      id: 'c',
      place: null,
      method: 'POST',
      path: '/v1/chat/completions',
    } as const;
    const bytes = Buffer.concat(encodeEntry({ ...entry, coding: null, whole: true }, [Buffer.from(body)]));
    const recorded = await openEntryRecorder(home, () => undefined).record({ bytes });
    expect(recorded).toMatchObject({ branch: { branchId: 0 } });
    const [started] = await home.read.histories();
    const { attempts } = await home.calls.list(await home.find(started?.history ?? ''));
    expect(attempts).toMatchObject([{ attemptId: 'c', api: 'other', request: { size: body.length } }]);
  } finally {
    await home.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
