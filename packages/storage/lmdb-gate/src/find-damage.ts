import { isIrregular, openRegularFile } from '@stemma/machine';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { LmdbDamage, damaged, integerAt, NO_PAGE } from './damage.ts';
import { walkFreePages } from './free-pages.ts';
import { PAGE_HEADER, pageReader, type LmdbTree } from './pages.ts';
import { walkTree } from './walk-tree.ts';

/*
 * LMDB believes its file: it maps it and follows page numbers and lengths without looking at them. Where they are
 * wrong it ends the process by SIGBUS or SIGSEGV, waits for ever or shows rows that are none. So this reads the file
 * before LMDB maps it, by reads that cannot fail worse than with an error.
 */

const META_BYTES = 136;
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
/** Flags of the trees' own: keys are integers. The environment's flags stand among them. */
const INTEGER_KEYS = 0x08;

type Meta = {
  readonly pageBytes: number;
  readonly free: LmdbTree;
  readonly main: LmdbTree;
  readonly lastPage: number;
  readonly transaction: number;
};

/**
 * What is wrong with the data file of an LMDB environment, in a clause; null if LMDB can open it, and read and write
 * all of it. An empty file, or none, is a new environment. Nobody may write to the environment meanwhile.
 *
 * @param depth `head`: only what opening needs, which costs two reads; `all`: every page in use
 * @throws the system's error if the file cannot be read
 */
export const findLmdbDamage = (path: string, depth: 'head' | 'all'): string | null => {
  let file: number;
  try {
    file = openRegularFile(path);
  } catch (error) {
    if (isIrregular(error)) return 'it is no file';
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    if (size === 0) return null;
    const meta = readNewestMeta(file, size);
    if (depth === 'all') walkEnvironment(file, size, meta);
    return null;
  } catch (error) {
    if (error instanceof LmdbDamage) return error.message;
    throw error;
  } finally {
    closeSync(file);
  }
};

const readNewestMeta = (file: number, size: number): Meta => {
  const head = Buffer.alloc(PAGE_HEADER + META_BYTES);
  const metaAt = (page: number, at: number): Meta => {
    if (readSync(file, head, 0, head.length, at) < head.length) damaged('it is cut before its second page');
    if (head.readUInt32LE(PAGE_HEADER) !== MAGIC || head.readUInt16LE(18) !== 8)
      damaged(`page ${page} does not begin as LMDB's do`);
    if ((head.readUInt32LE(PAGE_HEADER + 4) & 0xffff) !== DATA_VERSION)
      damaged(`page ${page} is of another version of LMDB`);
    const pageBytes = head.readUInt32LE(48);
    if (pageBytes < 512 || pageBytes > 65536 || (pageBytes & (pageBytes - 1)) !== 0)
      damaged(`page ${page} claims pages of ${pageBytes} bytes`);
    const last = integerAt(head, 144);
    if (integerAt(head, 40) > 2 ** 47 || last > 2 ** 40) damaged(`page ${page} claims an impossible size`);
    const meta = {
      pageBytes,
      free: treeAt(head, 48),
      main: treeAt(head, 96),
      lastPage: last,
      transaction: integerAt(head, 152),
    };
    if ((meta.free.flags & INTEGER_KEYS) === 0 || meta.main.flags !== 0)
      damaged(`page ${page} claims trees of another kind`);
    for (const { root } of [meta.free, meta.main])
      if (root !== NO_PAGE && (root < 2 || root > last || (root + 1) * pageBytes > size))
        damaged(`page ${page} names page ${root}, which the file does not have`);
    return meta;
  };
  const first = metaAt(0, 0);
  const second = metaAt(1, first.pageBytes);
  if (second.pageBytes !== first.pageBytes) damaged('its first pages claim different sizes of pages');
  // Transaction N writes page N % 2; before the first, both have number 0.
  const [older, newer] = first.transaction > second.transaction ? [second, first] : [first, second];
  const inTurn =
    newer.transaction === 0 ||
    (newer.transaction === older.transaction + 1 && newer === (newer.transaction % 2 === 0 ? first : second));
  if (!inTurn)
    damaged(`its first pages have the transactions ${first.transaction} and ${second.transaction}`);
  return newer;
};

const walkEnvironment = (file: number, size: number, meta: Meta): void => {
  const pages = pageReader(file, size, meta.pageBytes, meta.lastPage);
  const free: Buffer[] = [];
  walkTree(pages, meta.free, 'free pages', {
    integers: true,
    value: (value) => free.push(Buffer.from(value)),
  });
  walkTree(pages, meta.main, 'names', {
    tree: (name, value) => {
      const tree = treeAt(value, 0);
      if (tree.flags !== 0 || value.readUInt32LE(0) !== 0)
        damaged(`the tree ${name} has flags that are not ours`);
      walkTree(pages, tree, name, {});
    },
  });
  walkFreePages(pages, free);
};

const treeAt = (bytes: Buffer, at: number): LmdbTree => ({
  flags: bytes.readUInt16LE(at + 4),
  depth: bytes.readUInt16LE(at + 6),
  branches: integerAt(bytes, at + 8),
  leaves: integerAt(bytes, at + 16),
  overflows: integerAt(bytes, at + 24),
  entries: integerAt(bytes, at + 32),
  root: integerAt(bytes, at + 40),
});
