import { ContentRef, sha256Hex } from '@stemma/canonical';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_CONTENT_BYTES, type ContentStore } from './port.ts';
import { verifyContents } from './verify-contents.ts';

export type ContentStoreHarness = {
  readonly create: () => Promise<ContentStore>;
  /** Opens the same contents a second time. */
  readonly reopen?: (store: ContentStore) => Promise<ContentStore>;
  /** Replaces the bytes of a stored content, or removes it. */
  readonly alter: (ref: ContentRef, bytes: Uint8Array | null) => Promise<void>;
  readonly destroy: () => Promise<void>;
};

/** What every adapter of the contents store must do (record §4). */
export const describeContentStore = (name: string, harness: ContentStoreHarness): void => {
  describe(`${name} as a contents store`, () => {
    let store: ContentStore;
    beforeEach(async () => {
      store = await harness.create();
    });
    afterEach(async () => {
      await store.close();
      await harness.destroy();
    });
    const bytes = Buffer.from('some content');
    const ref = new ContentRef(sha256Hex(bytes), bytes.length);

    it('gives back what was put in, under its hash and length', { tags: ['record§4'] }, async () => {
      for (const each of [new Uint8Array(), bytes, new Uint8Array(300_000).fill(5)]) {
        const given = await store.put(each);
        expect(given).toEqual(new ContentRef(sha256Hex(each), each.length));
        expect(Buffer.compare(await store.get(given), each)).toBe(0);
      }
    });

    it('accepts contents of up to 64 MiB and refuses larger ones', { tags: ['record§4:limit'] }, async () => {
      const large = new Uint8Array(MAX_CONTENT_BYTES + 1);
      await expect(store.put(large)).rejects.toMatchObject({ code: 'E_CONTENT_TOO_LARGE' });
      const given = await store.put(large.subarray(1));
      expect((await store.get(given)).length).toBe(MAX_CONTENT_BYTES);
    });

    it('stores equal contents once, from many writers at once', { tags: ['record§4'] }, async () => {
      const other = harness.reopen ? await harness.reopen(store) : store;
      await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? store : other).put(bytes)));
      expect(await all(other)).toEqual([ref]);
    });

    it(
      'says which of some contents are not there with their length',
      { tags: ['record§4:missing-content'] },
      async () => {
        const [other, gone] = [await store.put(new Uint8Array(9)), await store.put(new Uint8Array(7))];
        await harness.alter(gone, null);
        const longer = new ContentRef(other.sha256, 10);
        expect(await store.missing([ref, other, gone, longer])).toEqual([ref, gone, longer]);
        expect(await store.missing([])).toEqual([]);
      },
    );

    it('says that a content is missing', { tags: ['record§4:missing-content'] }, async () => {
      await expect(store.get(ref)).rejects.toMatchObject({ code: 'E_CONTENT_MISSING' });
      await store.put(bytes);
      await harness.alter(ref, null);
      await expect(store.get(ref)).rejects.toMatchObject({ code: 'E_CONTENT_MISSING' });
    });

    it.each([
      ['altered', Buffer.from('some c0ntent')],
      ['cut short', Buffer.from('some')],
      ['grown', Buffer.from('some content and more')],
      ['emptied', Buffer.alloc(0)],
    ])(
      'reports that a content was %s, also to a caller that stores it again',
      { tags: ['record§4:durable-first'] },
      async (_how, other) => {
        await store.put(bytes);
        await harness.alter(ref, other);
        await expect(store.get(ref)).rejects.toMatchObject({ code: 'E_CONTENT_DAMAGED' });
        await expect(store.put(bytes)).rejects.toMatchObject({ code: 'E_CONTENT_DAMAGED' });
      },
    );

    it('refuses a reference with another length', { tags: ['record§4'] }, async () => {
      await store.put(bytes);
      await expect(store.get(new ContentRef(ref.sha256, 5))).rejects.toMatchObject({
        code: 'E_CONTENT_DAMAGED',
      });
    });

    it(
      'shares no memory with its callers: neither the bytes it was given nor the bytes it returns',
      { tags: ['record§4'] },
      async () => {
        const own = Buffer.from(bytes);
        await store.put(own);
        own.fill(0);
        (await store.get(ref)).fill(0);
        expect(Buffer.from(await store.get(ref))).toEqual(bytes);
      },
    );

    it('lists and verifies all contents', { tags: ['record§4'] }, async () => {
      const refs = await Promise.all([1, 2, 3, 4].map((i) => store.put(new Uint8Array(i).fill(i))));
      expect(await all(store)).toEqual([...refs].sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1)));
      const [, second] = refs;
      if (!second) throw new Error('no content');
      await harness.alter(second, Buffer.from('xx'));
      const found: unknown[] = [];
      for await (const { ref: each, problem } of verifyContents(store))
        if (problem) found.push([each.sha256, problem.code]);
      expect(found).toEqual([[second.sha256, 'E_CONTENT_DAMAGED']]);
    });
  });
};

const all = async (store: ContentStore): Promise<ContentRef[]> => {
  const refs: ContentRef[] = [];
  for await (const ref of store.list()) refs.push(ref);
  return refs;
};
