import { ContentRef } from '@stemma/canonical';
import { fail, isStemmaError, type ErrorCode } from '@stemma/errors';
import type { ContentSource } from '@stemma/log';
import { expect, it } from 'vitest';
import { contentsWithSizes, hasRestoredContent } from '../src/contents-with-sizes.ts';

const HASH = 'a'.repeat(64);
const failingWith = (code: ErrorCode): ContentSource => ({
  get: () => Promise.reject(fail(code, 'why', { at: 1 })),
});
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => (isStemmaError(error) ? [error.code, error.message, error.detail] : error),
  );

it('errors of contents have the hash and the length of the content; others and answers stay as they are', async () => {
  const ref = new ContentRef(HASH, 7);
  for (const code of ['E_CONTENT_MISSING', 'E_CONTENT_DAMAGED'] as const)
    expect(await errorOf(contentsWithSizes(failingWith(code)).get(ref))).toEqual([
      code,
      'why',
      { at: 1, sha256: HASH, size: 7 },
    ]);
  expect(await errorOf(contentsWithSizes(failingWith('E_IO')).get(ref))).toEqual(['E_IO', 'why', { at: 1 }]);
  const bytes = Uint8Array.of(1, 2);
  expect(await contentsWithSizes({ get: () => Promise.resolve(bytes) }).get(ref)).toBe(bytes);
});

const defect = (sha256: string | null, size: number | null) => ({ sha256, size });

it('a content is restored if some history is defective for one that can be read now', async () => {
  const asked: unknown[] = [];
  const there: ContentSource = {
    get: ({ sha256, size }) => {
      asked.push([sha256, size]);
      return Promise.resolve(Uint8Array.of());
    },
  };
  expect(await hasRestoredContent([], there)).toBe(false);
  expect(await hasRestoredContent([defect(null, null), defect(HASH, null), defect(null, 7)], there)).toBe(
    false,
  );
  expect(asked).toEqual([]);
  expect(await hasRestoredContent([defect(null, null), defect(HASH, 7)], there)).toBe(true);
  expect(asked).toEqual([[HASH, 7]]);
  for (const code of ['E_CONTENT_MISSING', 'E_CONTENT_DAMAGED'] as const)
    expect(await hasRestoredContent([defect(HASH, 7)], failingWith(code))).toBe(false);
  expect(await errorOf(hasRestoredContent([defect(HASH, 7)], failingWith('E_IO')))).toEqual([
    'E_IO',
    'why',
    { at: 1 },
  ]);
});
