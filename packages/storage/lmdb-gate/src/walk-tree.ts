import { damaged, integerAt, NO_PAGE } from './damage.ts';
import { PAGE_HEADER, type Pages, type LmdbTree } from './pages.ts';

const NODE_HEADER = 8;
const [BRANCH, LEAF, OVERFLOW] = [1, 2, 4];
const [BIG, SUBTREE] = [1, 2];
/** LMDB follows no tree deeper than that. */
const MAX_DEPTH = 32;

type Visitor = {
  /** Keys are integers in the machine's order, not texts. */
  readonly integers?: boolean;
  readonly value?: (value: Buffer) => void;
  /** For the tree of names: an entry may be a tree. */
  readonly tree?: (name: string, value: Buffer) => void;
};

/** Walks a tree: every page and node has its place, keys ascend, counts are what the parent says. @throws LmdbDamage */
export const walkTree = (pages: Pages, tree: LmdbTree, what: string, visitor: Visitor): void => {
  const { pageBytes } = pages;
  const room = pageBytes - PAGE_HEADER;
  const found = { branches: 0, leaves: 0, overflows: 0, entries: 0 };
  let before: Buffer = Buffer.alloc(0);
  let beforeLength = -1;
  let wasBranch = false;

  /** Keys ascend over all pages. The key of a branch's node is above all before it, and the first below may be the same. */
  const ascend = (page: Buffer, from: number, to: number, isBranch: boolean): void => {
    const order =
      beforeLength < 0
        ? 1
        : visitor.integers === true
          ? integerAt(page, from) - integerAt(before, 0)
          : page.compare(before, 0, beforeLength, from, to);
    if (wasBranch && !isBranch ? order < 0 : order <= 0) damaged(`the keys of ${what} are not in order`);
    if (before.length < to - from) before = Buffer.alloc(Math.max(2048, to - from));
    beforeLength = page.copy(before, 0, from, to);
    wasBranch = isBranch;
  };

  const leafNode = (page: Buffer, node: number, number: number): number => {
    const flags = page.readUInt16LE(node + 4);
    const keyLength = page.readUInt16LE(node + 6);
    const length = page.readUInt32LE(node);
    const data = node + NODE_HEADER + keyLength;
    const inline = flags === BIG ? 24 : length;
    if (data + inline > pageBytes || keyLength === 0 || (visitor.integers === true && keyLength !== 8))
      damaged(`page ${number} (${what}) has an entry that does not fit`);
    ascend(page, node + NODE_HEADER, data, false);
    if (flags === BIG) {
      const first = integerAt(page, data);
      const count = integerAt(page, data + 16);
      // A shorter value in the place of a longer one keeps its pages.
      if (count <= Math.floor((PAGE_HEADER - 1 + length) / pageBytes))
        damaged(`page ${number} (${what}) has a long value of ${count} pages`);
      pages.use(first, count, what);
      const head = pages.bytes(first, 0, PAGE_HEADER);
      if (
        integerAt(head, 0) !== first ||
        head.readUInt16LE(18) !== OVERFLOW ||
        head.readUInt32LE(20) !== count
      )
        damaged(`page ${first} (${what}) does not begin a long value`);
      found.overflows += count;
      visitor.value?.(pages.bytes(first, PAGE_HEADER, length));
    } else if (flags === SUBTREE && length === 48 && visitor.tree !== undefined)
      visitor.tree(
        page.toString('utf8', node + NODE_HEADER, data).replace(/\0$/, ''),
        Buffer.from(page.subarray(data, data + 48)),
      );
    else if (flags === 0) visitor.value?.(page.subarray(data, data + length));
    else damaged(`page ${number} (${what}) has an entry of another kind`);
    found.entries++;
    return NODE_HEADER + keyLength + inline;
  };

  const visit = (number: number, depth: number): void => {
    pages.use(number, 1, what);
    const page = pages.read(number, visitor.tree === undefined ? depth : depth + MAX_DEPTH, what);
    const leaf = depth === tree.depth;
    if (integerAt(page, 0) !== number || page.readUInt16LE(18) !== (leaf ? LEAF : BRANCH))
      damaged(`page ${number} (${what}) is not what its parent says`);
    const lower = page.readUInt16LE(20);
    const upper = page.readUInt16LE(22);
    const count = lower / 2;
    if (lower > upper || upper > room || !Number.isInteger(count) || count < (leaf ? 1 : 2))
      damaged(`page ${number} (${what}) has ${count} entries, which do not fit`);
    if (leaf) found.leaves++;
    else found.branches++;
    let total = 0;
    for (let i = 0; i < count; i++) {
      const node = PAGE_HEADER + page.readUInt16LE(PAGE_HEADER + 2 * i);
      if (node < PAGE_HEADER + upper || node + NODE_HEADER > pageBytes || node % 2 === 1)
        damaged(`page ${number} (${what}) has an entry outside`);
      const bytes = leaf ? leafNode(page, node, number) : branchNode(page, node, number, i, depth);
      total += bytes + (bytes & 1);
    }
    if (total !== room - upper) damaged(`page ${number} (${what}) has entries that overlap`);
  };

  const branchNode = (page: Buffer, node: number, number: number, i: number, depth: number): number => {
    const keyLength = page.readUInt16LE(node + 6);
    const end = node + NODE_HEADER + keyLength;
    if (end > pageBytes || (visitor.integers === true && i > 0 && keyLength !== 8))
      damaged(`page ${number} (${what}) has an entry that does not fit`);
    // LMDB never looks at the first one's.
    if (i > 0) ascend(page, node + NODE_HEADER, end, true);
    visit(page.readUInt32LE(node) + page.readUInt16LE(node + 4) * 2 ** 32, depth + 1);
    return NODE_HEADER + keyLength;
  };

  if (tree.root === NO_PAGE) {
    if (tree.depth !== 0 || tree.entries !== 0) damaged(`${what} is empty but has entries`);
    return;
  }
  if (tree.depth < 1 || tree.depth > MAX_DEPTH) damaged(`${what} is ${tree.depth} pages deep`);
  visit(tree.root, 1);
  for (const name of ['branches', 'leaves', 'overflows', 'entries'] as const)
    if (found[name] !== tree[name]) damaged(`${what} has ${found[name]} ${name}, not ${tree[name]}`);
};
