import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readRegularFile } from './index.ts';

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
  ['nothing', 'nothing', () => undefined, 'ENOENT'],
])('%s is refused at once, by its name', (_what, name, make, code) => {
  make(at(name));
  const read = (): unknown => readRegularFile(at(name), 100);
  expect(read).toThrow(expect.objectContaining({ code }));
  expect(read).toThrow(at(name));
});
