import { sized } from '@stemma/test-kit';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openIndexFile, type IndexedDocument } from '../src/index-file.ts';

let directory = '';
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'stemma-index-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const DOCUMENTS = Array.from({ length: 60 }, (_, i): IndexedDocument => ({
  history: `h${i % 3}`,
  branchId: 0,
  seq: i,
  index: 0,
  part: 0,
  kind: 'content',
  role: 'user',
  at: i,
  text: `word number ${i} of the ferry`,
  ids: `m${i}`,
}));
const file = (home = directory): string => join(home, 'search', 'index.sqlite');

const fill = async (): Promise<void> => {
  const index = await openIndexFile(directory, () => undefined);
  index.add(DOCUMENTS, null, 'c1');
  index.close();
};

/** What the index of a directory says to a new reader, and whether it was damaged. */
const asked = async (home = directory) => {
  let damaged = 0;
  const index = await openIndexFile(home, () => damaged++);
  const cursor = index.cursor();
  const terms = [{ words: ['ferry'], prefix: false, not: false }];
  const { total } = index.find(terms, {}, { skip: 0, limit: 1 });
  index.close();
  return { cursor, total, damaged };
};
const WHOLE = { cursor: 'c1', total: 60, damaged: 0 };
const ANEW = { cursor: null, total: 0, damaged: 0 };

it('whatever bytes of an index are changed or zeroed, and wherever it is cut, it is made anew, and the damage is said', async () => {
  await fill();
  expect(await asked()).toEqual(WHOLE);
  const kept = mkdtempSync(join(tmpdir(), 'stemma-index-'));
  cpSync(directory, kept, { recursive: true });
  const whole = readFileSync(file());
  const stride = sized(1_024, 64);
  for (let at = 0; at < whole.length; at += stride)
    for (const how of ['flipped', 'zeroed', 'cut'] as const) {
      const bytes = Buffer.from(whole);
      if (how === 'flipped') bytes[at] = (bytes[at] as number) ^ (1 << ((at / stride) % 8));
      if (how === 'zeroed') bytes.fill(0, at, at + stride);
      if (bytes.equals(whole) && how !== 'cut') continue;
      rmSync(join(directory, 'search'), { recursive: true });
      cpSync(join(kept, 'search'), join(directory, 'search'), { recursive: true });
      writeFileSync(file(), how === 'cut' ? bytes.subarray(0, at) : bytes);
      expect({ how, at, ...(await asked()) }).toEqual({ how, at, ...ANEW, damaged: 1 });
    }
  rmSync(kept, { recursive: true });
}, 120_000);

it('an index whose writer ended before it noted what it left, or which was copied meanwhile, is made anew; one that is written is read', async () => {
  await fill();
  const writer = await openIndexFile(directory, () => undefined);
  writer.add([], 'c1', 'c2');
  expect(await asked()).toEqual({ ...WHOLE, cursor: 'c2' });
  const copy = mkdtempSync(join(tmpdir(), 'stemma-index-'));
  cpSync(directory, copy, { recursive: true });
  expect(await asked(copy)).toEqual(ANEW);
  rmSync(copy, { recursive: true });
  writer.settle();
  expect(await asked()).toEqual({ ...WHOLE, cursor: 'c2' });
  writer.close();
  const note = `${file()}.sum`;
  expect(statSync(note).mode & 0o777).toBe(0o600);
  writeFileSync(note, `writing ${process.pid} 1 00000000-0000-0000-0000-000000000000 1`);
  expect(await asked()).toEqual(ANEW);
});

it('of two writers each notes what both have left', async () => {
  const one = await openIndexFile(directory, () => undefined);
  const two = await openIndexFile(directory, () => undefined);
  one.add(DOCUMENTS.slice(0, 30), null, 'c0');
  two.add(DOCUMENTS.slice(30), 'c0', 'c1');
  one.settle();
  expect(await asked()).toEqual(WHOLE);
  two.add([], 'c1', 'c2');
  one.close();
  expect(await asked()).toEqual({ ...WHOLE, cursor: 'c2' });
  two.close();
  expect(await asked()).toEqual({ ...WHOLE, cursor: 'c2' });
});
