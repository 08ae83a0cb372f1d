import { sized } from '@stemma/test-kit';
import { open } from 'lmdb';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findLmdbDamage } from '../src/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'stemma-find-damage-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The same numbers for the same seed. */
const numbers = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
};

const BINARY = { keyEncoding: 'binary', encoding: 'binary' } as const;

/** Transactions of all kinds: many rows, few, long keys, values of several pages, removals, some that are undone. */
const runTransactions = async (
  path: string,
  seed: number,
  count: number,
  each: () => void,
  scale = 1,
): Promise<void> => {
  const next = numbers(seed);
  const root = open<Buffer, Buffer>({ path, noSync: true, maxDbs: 8, ...BINARY });
  const trees = ['own', 'rows a', 'rows b'].map((name) => root.openDB<Buffer, Buffer>({ name, ...BINARY }));
  for (let t = 0; t < count; t++) {
    try {
      root.transactionSync(() => {
        const tree = trees[next(trees.length)];
        if (next(6) === 0)
          for (const key of [...(tree?.getKeys({ limit: next(1500) }) ?? [])]) tree?.removeSync(key);
        for (let i = next(next(8) === 0 ? 2000 / scale : 50 / Math.min(scale, 5)); i > 0; i--) {
          const key = Buffer.alloc(1 + next(next(20) === 0 ? 1500 : 40));
          for (let j = 0; j < Math.min(key.length, 6); j++) key[j] = next(256);
          tree?.putSync(key, Buffer.alloc(next(next(20) === 0 ? 30_000 : 300), 65));
        }
        if (next(15) === 0) throw new Error('undone');
      });
    } catch (error) {
      if ((error as Error).message !== 'undone') throw error;
    }
    if (t % 10 === 9) each();
  }
  await root.close();
};

describe('looking at an environment before LMDB maps it', () => {
  it.each(Array.from({ length: sized(2, 20) }, (_, seed) => seed + 1))(
    'finds no damage in an environment that LMDB wrote, whatever was written, removed and undone (seed %i)',
    async (seed) => {
      const path = join(directory, `whole-${seed}.mdb`);
      const found: (string | null)[] = [];
      await runTransactions(path, seed, 200, () => found.push(findLmdbDamage(path, 'all')));
      expect(new Set(found)).toEqual(new Set([null]));
    },
  );

  it('finds every changed byte in the head of a page in use and every truncation, and reads nothing beyond the end of the file', async () => {
    const [path, copy] = [join(directory, 'rows.mdb'), join(directory, 'copy.mdb')];
    await runTransactions(path, 7, 30, () => undefined, 40);
    const whole = readFileSync(path);
    const [free, used]: string[][] = [[], []];
    for (let page = 0; page * 4096 < whole.length; page++) {
      const bytes = Buffer.from(whole);
      bytes.fill(0xa5, page * 4096 + (page < 2 ? 24 : 16), page * 4096 + 32);
      writeFileSync(copy, bytes);
      const damage = findLmdbDamage(copy, 'all');
      (damage === null ? free : used)?.push(`${page}`);
    }
    expect([used?.includes('0'), used?.includes('1'), (used?.length ?? 0) > 10]).toEqual([true, true, true]);
    for (let size = 64; size < whole.length; size += sized(9_973, 509)) {
      copyFileSync(path, copy);
      truncateSync(copy, size);
      const damage = findLmdbDamage(copy, 'all');
      if (size < whole.length / 2) expect([size, damage]).not.toEqual([size, null]);
    }
  });

  it('throws no error of its own, whatever byte has whatever value', async () => {
    const [path, copy] = [join(directory, 'few.mdb'), join(directory, 'changed.mdb')];
    await runTransactions(path, 3, 30, () => undefined, 40);
    const whole = readFileSync(path);
    const next = numbers(11);
    for (let i = 0; i < sized(300, 10_000); i++) {
      const bytes = Buffer.from(whole);
      const at = next(4) === 0 ? next(300) : next(whole.length);
      bytes[at] = next(256);
      writeFileSync(copy, bytes);
      const damage = findLmdbDamage(copy, 'all');
      expect(damage === null || damage.length > 10).toBe(true);
    }
  });
});
