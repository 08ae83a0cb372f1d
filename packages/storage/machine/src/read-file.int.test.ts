import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openFileHandle, openRegularFile, readRegularFile } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'stemma-read-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

test('a regular file is read whole, through a link too', () => {
  writeFileSync(at('file'), 'what it holds');
  symlinkSync(at('file'), at('link'));
  expect([at('file'), at('link')].map((path) => readRegularFile(path).toString())).toEqual([
    'what it holds',
    'what it holds',
  ]);
});

test.each([
  ['a pipe that nobody writes to', 'pipe', (path: string) => void spawnSync('mkfifo', [path]), 'EINVAL'],
  [
    'a link to a device that never ends',
    'endless',
    (path: string) => symlinkSync('/dev/zero', path),
    'EINVAL',
  ],
  ['a folder', 'folder', (path: string) => mkdirSync(path, { recursive: true }), 'EINVAL'],
  ['a file that is too large', 'large', (path: string) => writeFileSync(path, 'x'.repeat(101)), 'EFBIG'],
  ['a link to what is not there', 'dangling', (path: string) => symlinkSync(at('none'), path), 'EINVAL'],
  ['nothing', 'nothing', () => undefined, 'ENOENT'],
])('%s is refused at once, by its name', (_what, name, make, code) => {
  make(at(name));
  const read = (): unknown => readRegularFile(at(name), 100);
  expect(read).toThrow(expect.objectContaining({ code }));
  expect(read).toThrow(at(name));
});

test.each(['pipe', 'endless', 'folder', 'dangling'])(
  'whoever wants to write gets nothing but a regular file either: not a %s, and nothing is made behind a link',
  async (name) => {
    for (const how of ['read', 'write', 'make', 'new', 'append'] as const) {
      expect(() => openRegularFile(at(name), how), how).toThrow(expect.objectContaining({ code: 'EINVAL' }));
      await expect(openFileHandle(at(name), how), how).rejects.toMatchObject({
        code: 'EINVAL',
        path: at(name),
      });
    }
    expect(existsSync(at('none'))).toBe(false);
  },
);

test('a file that is made is for its owner alone, and what is appended goes to its end', () => {
  for (const text of ['one ', 'two']) {
    const file = openRegularFile(at('made'), 'append');
    writeSync(file, text, 0);
    closeSync(file);
  }
  expect(readFileSync(at('made'), 'utf8')).toBe('one two');
  expect(statSync(at('made')).mode & 0o777).toBe(0o600);
  expect(() => openRegularFile(at('made'), 'new')).toThrow(expect.objectContaining({ code: 'EEXIST' }));
});
