import { readSync } from 'node:fs';
import { damaged } from './damage.ts';

/** A tree as its parent describes it: how many pages of each kind, and where the first is. */
export type LmdbTree = {
  readonly flags: number;
  readonly depth: number;
  readonly branches: number;
  readonly leaves: number;
  readonly overflows: number;
  readonly entries: number;
  readonly root: number;
};

/** The pages of a file, each read once. */
export type Pages = {
  readonly pageBytes: number;
  readonly last: number;
  /** Reads a page into a buffer of its own for this depth: valid until the next page of the same depth is read. */
  readonly read: (page: number, depth: number, what: string) => Buffer;
  /** Bytes of a page that may be followed by others, at most `length` of them. */
  readonly bytes: (page: number, from: number, length: number) => Buffer;
  /** Notes that pages are in use. */
  readonly use: (page: number, count: number, what: string) => void;
};

export const PAGE_HEADER = 24;

export const pageReader = (file: number, size: number, pageBytes: number, last: number): Pages => {
  const buffers: Buffer[] = [];
  const isNewlyUsed = openPageSet();
  const readAt = (buffer: Buffer, at: number, what: string): Buffer => {
    if (readSync(file, buffer, 0, buffer.length, at) < buffer.length)
      damaged(`it is cut before page ${Math.floor(at / pageBytes)} (${what})`);
    return buffer;
  };
  return {
    pageBytes,
    last,
    read: (page, depth, what) => readAt((buffers[depth] ??= Buffer.alloc(pageBytes)), page * pageBytes, what),
    bytes: (page, from, length) => readAt(Buffer.alloc(length), page * pageBytes + from, 'a long value'),
    use: (page, count, what) => {
      const end = what === FREE ? last + 1 : Math.min(last + 1, Math.floor(size / pageBytes));
      if (page < 2 || count < 1 || page + count > end)
        damaged(`${what} has page ${page}, which the file does not have`);
      for (let each = page; each < page + count; each++)
        if (!isNewlyUsed(each)) damaged(`page ${each} is used twice (${what})`);
    },
  };
};

/** A set of pages that takes memory for what is added, not for what a file claims to have. True for a new member. */
const openPageSet = (): ((page: number) => boolean) => {
  const chunks = new Map<number, Uint8Array>();
  const perChunk = 8 * 4096;
  return (page) => {
    const number = Math.floor(page / perChunk);
    const chunk = chunks.get(number) ?? new Uint8Array(perChunk / 8);
    chunks.set(number, chunk);
    const [at, bit] = [(page % perChunk) >> 3, 1 << (page & 7)];
    const known = chunk[at] ?? 0;
    chunk[at] = known | bit;
    return (known & bit) === 0;
  };
};

/** Free pages at the end need not be in the file. */
export const FREE = 'the list of free pages';
