import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeFolder, replaceFile, replaceFileSync, shredFile, writeOnce } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'stemma-durable-'));
afterAll(() => rmSync(folder, { recursive: true }));
const modeOf = (path: string): number => statSync(path).mode & 0o777;

it('makes folders and files readable only by their owner, and leaves no temporary file', async () => {
  makeFolder(join(folder, 'a/b'));
  expect(writeOnce(join(folder, 'a/c/once'), 'first')).toBe(true);
  await replaceFile(join(folder, 'a/d/replaced'), 'one');
  await replaceFile(join(folder, 'a/d/replaced'), 'two');
  expect(readFileSync(join(folder, 'a/d/replaced'), 'utf8')).toBe('two');
  expect(['a', 'a/b', 'a/c', 'a/d'].map((name) => modeOf(join(folder, name)))).toEqual(Array(4).fill(0o700));
  expect(['a/c/once', 'a/d/replaced'].map((name) => modeOf(join(folder, name)))).toEqual([0o600, 0o600]);
  expect(readdirSync(join(folder, 'a'), { recursive: true }).length).toBe(5);
});

it('does not overwrite an existing file with writeOnce, and leaves no second copy', () => {
  const path = join(folder, 'once/key');
  expect([writeOnce(path, 'first'), writeOnce(path, 'second')]).toEqual([true, false]);
  expect(readFileSync(path, 'utf8')).toBe('first');
  expect(readdirSync(join(folder, 'once'))).toEqual(['key']);
});

it('overwrites the bytes of a file before deleting it', () => {
  const [path, other] = [join(folder, 'secret'), join(folder, 'other-name')];
  writeFileSync(path, 'a secret');
  linkSync(path, other);
  shredFile(path);
  expect(readdirSync(folder)).not.toContain('secret');
  expect(readFileSync(other).length).toBe(8);
  expect(readFileSync(other, 'latin1')).not.toBe('a secret');
  shredFile(path);
});

it('several writers that replace one file at once each write it whole, and none takes away what another renames', async () => {
  const place = mkdtempSync(join(folder, 'many-'));
  const path = join(place, 'replaced');
  const texts = Array.from({ length: 20 }, (_, i) => `text ${i} `.repeat(1_000));
  await Promise.all(texts.map((text) => replaceFile(path, text)));
  expect(texts).toContain(readFileSync(path, 'utf8'));
  replaceFileSync(path, 'last', { synced: false });
  expect([readFileSync(path, 'utf8'), modeOf(path), readdirSync(place)]).toEqual([
    'last',
    0o600,
    ['replaced'],
  ]);
});
