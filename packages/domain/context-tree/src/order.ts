import { compareCodePoints, compareNumbers } from '@stemma/canonical';
import type { Headers } from './node.ts';

/** The headers that decide the position of a node among its siblings. */
export type SiblingKey = Pick<Headers, 'offset' | 'created_at_ns' | 'creation_index' | 'id'>;

/** Canonical sibling order (context-tree §2), for `sort`: offset, time, index, then id by code point. */
export const compareSiblings = (a: SiblingKey, b: SiblingKey): number =>
  a.offset - b.offset ||
  compareNumbers(a.created_at_ns, b.created_at_ns) ||
  a.creation_index - b.creation_index ||
  compareCodePoints(a.id, b.id);
