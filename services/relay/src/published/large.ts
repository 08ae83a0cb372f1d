import { compareCodePoints, compareNumbers, pack, sha256Hex, type Packable } from '@stemma/canonical';

/** A value stored elsewhere: its JSON pointer in the record, its hash and size. */
export type Reference = {
  readonly at: string;
  /** Lower-case hex of the SHA-256 of the value's canonical msgpack, and its length in bytes. */
  readonly sha256: string;
  readonly size: number;
};

/** A content above this size is in the contents store, not in the log (record §4); a record refers to it, too. */
export const MAX_INLINE_BYTES = 256 * 1024;

/** The keys under which events hold nodes, and which of a node's attributes are contents. */
const HOLDERS = ['node', 'payload', 'turn'] as const;
const isContent = (attribute: string): boolean =>
  attribute === 'content' || attribute.startsWith('content_') || attribute.startsWith('data_');

type Fields = { readonly [name: string]: unknown };
type Large = Reference & { readonly holder: string; readonly attribute: string };

/** The contents of an event with their sizes, the largest first. */
export const contentsOf = (event: Fields): readonly Large[] => {
  const found: Large[] = [];
  for (const holder of HOLDERS) {
    const node = event[holder];
    if (typeof node !== 'object' || node === null) continue;
    for (const [attribute, value] of Object.entries(node)) {
      if (!isContent(attribute)) continue;
      const bytes = pack(value as Packable);
      const at = `/event/${holder}/${attribute.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      found.push({ at, sha256: sha256Hex(bytes), size: bytes.length, holder, attribute });
    }
  }
  return found.sort((a, b) => compareNumbers(b.size, a.size) || compareCodePoints(a.at, b.at));
};

/** The event with null for its contents that are stored elsewhere. */
export const withoutContents = (event: Fields, moved: readonly Large[]): Fields => {
  const copy: Record<string, unknown> = { ...event };
  for (const { holder, attribute } of moved)
    copy[holder] = { ...(copy[holder] as Fields), [attribute]: null };
  return copy;
};

export const referenceTo = ({ at, sha256, size }: Reference): Reference => ({ at, sha256, size });
