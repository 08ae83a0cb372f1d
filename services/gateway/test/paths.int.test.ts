import { addressOf, ENDPOINTS, type Endpoint } from '@stemma/api';
import { openHome, type Home } from '@stemma/home';
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createGateway } from '../src/index.ts';
import { openAirline } from './airline.ts';

const homes: Home[] = [];
const directories: string[] = [];
afterEach(async () => {
  for (const home of homes.splice(0)) await home.close().catch(() => undefined);
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
const segments = (directory: string): string[] =>
  filesIn(join(directory, 'log')).filter((file) => /\d{6,}/.test(file));

/** Something for every parameter, true or not. */
const INPUT = {
  history: 'airline',
  session: 'airline',
  node: 'ask',
  id: 'one',
  a: '@c1',
  b: '@c2',
  selector: '@c1..@c2 *',
  good: '@c1',
  bad: '@c2',
};

/** Every answer of a gateway that is no stream, errors among them. */
const answers = async (home: Home): Promise<readonly string[]> => {
  const app = createGateway({ home });
  const texts: string[] = [];
  const ask = async (path: string, options: RequestInit = {}): Promise<void> => {
    const response = await app.request(path, options);
    if (response.headers.get('content-type') === 'text/event-stream') await response.body?.cancel();
    else texts.push(`${path} ${response.status} ${await response.text()}`);
  };
  for (const { method, path, params, query, body } of Object.values(ENDPOINTS) as Endpoint[]) {
    if (method === 'GET')
      for (const at of [{}, { at: '@c2' }, { at: '/etc/passwd' }])
        await ask(
          addressOf({ path, ...(params && { params }), ...(query && { query }) }, { ...INPUT, ...at }),
        );
    else if (body !== undefined)
      for (const text of [
        '{}',
        '{"id":"p","recorder":"r","steps":[{"op":"commit"}]}',
        '{"experiment":"{}","id":"p"}',
      ])
        await ask(addressOf({ path, ...(params && { params }) }, INPUT), {
          method,
          headers: { 'content-type': 'application/json' },
          body: text,
        });
  }
  for (const path of ['/', '/metrics', '/openapi.json', '/assets/..%2f..%2fpackage.json', '/etc/passwd'])
    await ask(path);
  return texts;
};

test.each<readonly [string, (directory: string) => void]>([
  ['whole', () => undefined],
  ['without contents', (directory) => rmSync(join(directory, 'contents'), { recursive: true })],
  [
    'with a segment of zeros',
    (directory) => segments(directory).forEach((file) => writeFileSync(file, Buffer.alloc(4_096))),
  ],
  [
    'with a segment that is cut off',
    (directory) => segments(directory).forEach((file) => truncateSync(file, 300)),
  ],
  ['without a log', (directory) => rmSync(join(directory, 'log'), { recursive: true })],
])('when a home is %s, no answer contains its path on the server', { timeout: 60_000 }, async (_, spoil) => {
  const airline = await openAirline({ keep: true });
  const { directory } = airline.home;
  await airline.close();
  directories.push(directory);
  const home = await openHome({ directory });
  homes.push(home);
  spoil(directory);
  const told = await answers(home);
  expect(told.length).toBeGreaterThan(60);
  for (const folder of [directory, tmpdir() + '/', join(import.meta.dirname, '../../..')])
    expect(told.filter((text) => text.includes(folder))).toEqual([]);
});

test('the answer to an unexpected error repeats nothing of it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-paths-'));
  directories.push(directory);
  const home = await openHome({ directory, create: true });
  homes.push(home);
  const listHistories = (): Promise<never> =>
    Promise.reject(new Error(`ENOENT: no such file or directory, open '${directory}/rows/1/state'`));
  const response = await createGateway({ home: { ...home, read: { ...home.read, listHistories } } }).request(
    '/api/histories',
  );
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain(directory);
});
