import { openHome } from '@stemma/home';
import { openRecorder } from '@stemma/recorder';
import { filesHolding } from '@stemma/test-kit';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGateway } from '../src/index.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stemma-erasure-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('after an erasable history is erased over HTTP, every request for it is answered with 410', async () => {
  const home = await openHome({ directory: folder, create: true });
  const app = createGateway({ home });
  const fetch = async (url: string, init: RequestInit) => app.request(url, init);
  const ask = async (path: string, body?: object) => {
    const answer = await app.request(`http://127.0.0.1${path}`, {
      ...(body && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const url = 'http://127.0.0.1/';
  const desk = await openRecorder({
    url,
    fetch,
    history: 'desk',
    recorder: 'agent',
    erasable: { subject: null },
  });
  const other = await openRecorder({ url, fetch, history: 'other', recorder: 'agent' });
  await desk.recordCall([{ role: 'user', content: 'planted text' }]);
  await other.recordCall([{ role: 'user', content: 'stays' }]);
  expect(await desk.messages()).toContain('planted text');
  expect(filesHolding(join(folder, 'log'), ['planted text'])).toEqual([]);
  const before = await ask('/api/histories/other/thread');

  const erase = (history: string, who: object) =>
    ask(`/api/histories/${history}/commands`, { id: 'e', ...who, steps: [{ op: 'erase' }] });
  expect((await erase('desk', { recorder: 'agent' })).status).toBe(403);
  expect((await erase('other', { actor: 'officer' })).status).toBe(409);
  const { status, text } = await erase('desk', { actor: 'officer', notes: 'asked' });
  expect([
    status,
    (JSON.parse(text) as { events: { type: string }[] }).events.map(({ type }) => type),
  ]).toEqual([200, ['InterventionRecorded', 'HistoryErased']]);
  for (const path of [
    '',
    '/thread',
    '/export',
    '/snapshots',
    '/events',
    '/diff?a=@c1&b=@c1',
    '/branches',
    '/nodes',
  ])
    expect([path, (await ask(`/api/histories/desk${path}`)).status]).toEqual([
      path,
      path === '/nodes' ? 404 : 410,
    ]);
  expect((await ask('/api/histories/desk/thread')).text).toMatch(/erased on .* by officer: asked/);
  await expect(desk.insert('^ah', { content: 'x' })).rejects.toMatchObject({ code: 'E_HISTORY_ERASED' });
  expect(await ask('/api/histories/other/thread')).toEqual(before);
  await home.close();
  expect(filesHolding(folder, ['planted text'])).toEqual([]);
});
