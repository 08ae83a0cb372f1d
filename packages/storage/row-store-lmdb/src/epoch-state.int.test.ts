import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isAsClosed, isLost, noteClosed, readEpochState, writeEpochState } from './epoch.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stemma-epoch-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('the state of an epoch is read as it was written; without a file nothing was committed', () => {
  expect(readEpochState(folder)).toBeNull();
  for (const clean of [true, false]) {
    writeEpochState(folder, { boot: 'one', clean });
    expect(readEpochState(folder)).toEqual({ boot: 'one', clean, layout: '2' });
    expect(readFileSync(join(folder, 'state'), 'utf8')).toBe(`${clean ? 'clean' : 'written'} one 2\n`);
    expect(statSync(join(folder, 'state')).mode & 0o777).toBe(0o600);
  }
  writeFileSync(join(folder, 'state'), 'clean');
  expect(readEpochState(folder)).toEqual({ boot: '', clean: true, layout: '1' });
  rmSync(join(folder, 'state'));
  mkdirSync(join(folder, 'state'));
  expect(() => readEpochState(folder)).toThrow(expect.objectContaining({ code: 'EINVAL' }) as Error);
});

it('an epoch is lost if it was not closed before the machine stopped, or has another layout', () => {
  expect(isLost(folder, 'one')).toBe(false);
  for (const clean of [true, false])
    for (const boot of ['one', 'two']) {
      writeEpochState(folder, { boot, clean });
      expect(isLost(folder, 'one'), `${clean} ${boot}`).toBe(!clean && boot === 'two');
      writeFileSync(join(folder, 'state'), `${clean ? 'clean' : 'written'} ${boot}`);
      expect(isLost(folder, 'one')).toBe(true);
    }
});

it('a file is as it was closed until anything of it changes', () => {
  const file = join(folder, 'rows.mdb');
  expect(isAsClosed(folder, file, 'one')).toBe(false);
  noteClosed(folder, file, 'one');
  expect(isAsClosed(folder, file, 'one')).toBe(false);
  writeFileSync(file, 'rows');
  expect(isAsClosed(folder, file, 'one')).toBe(false);
  noteClosed(folder, file, 'one');
  expect(isAsClosed(folder, file, 'one')).toBe(true);
  expect(statSync(join(folder, 'closed')).mode & 0o777).toBe(0o600);
  appendFileSync(file, '!');
  expect(isAsClosed(folder, file, 'one')).toBe(false);
  noteClosed(folder, file, 'one');
  expect(isAsClosed(folder, file, 'one')).toBe(true);
  // Of another boot only what was synced counts.
  expect(isAsClosed(folder, file, 'two')).toBe(false);
  writeEpochState(folder, { boot: 'one', clean: false });
  expect(isAsClosed(folder, file, 'two')).toBe(false);
  writeEpochState(folder, { boot: 'one', clean: true });
  expect(isAsClosed(folder, file, 'two')).toBe(true);
});
