import type { WideJson } from '@stemma/canonical';
import { diffTrees, type FlatTree, type PayloadSource } from '@stemma/context-tree';
import { readerOf } from '../attributes.ts';
import { select, type SelectOptions } from '../select.ts';
import type { Selector } from '../syntax.ts';
import { diffContents } from './content-diff.ts';
import { rangeOptions, type RangeOptions } from './range-options.ts';
import type { RangeChange, RangeDiff } from './range-result.ts';

/** A snapshot of a range with its tree, and what the diff needs to know of it. */
export type RangeSide = {
  readonly label: string;
  readonly tree: FlatTree;
  readonly appeared?: SelectOptions['appeared'];
};

/** Ids outside of `only` are the same in both and are skipped. Null: nothing is known. */
type Restricted = { readonly only?: ReadonlySet<string> | null };

/**
 * What a selector gives in the newer of two snapshots against the older (context-tree §6): added ids in the order of the
 * newer, removed ones in that of the older, and the ids in both whose headers, parent or content differ.
 *
 * @throws E_SELECTOR_INVALID; Missing (payloads): fetch and call again.
 */
export const rangeDiff = (
  newer: RangeSide,
  older: RangeSide,
  selector: Selector,
  payloads: PayloadSource,
  { only = null, ...options }: RangeOptions & Restricted,
): RangeDiff => {
  const after = idsOf(newer, selector, payloads, only);
  const before = idsOf(older, selector, payloads, only);
  const [isAfter, isBefore] = [new Set(after), new Set(before)];
  const added = after.filter((id) => !isBefore.has(id));
  const removed = before.filter((id) => !isAfter.has(id));
  const both = new Set(after.filter((id) => isBefore.has(id)));
  const { changed } = diffTrees(older.tree, newer.tree, payloads, both);
  let left = options.maxChangesPerSnapshot ?? Infinity;
  const atMost = <T>(list: readonly T[]): readonly T[] => {
    const shown = list.length <= left ? list : list.slice(0, left);
    left -= shown.length;
    return shown;
  };
  return {
    from: newer.label,
    to: older.label,
    added_ids: atMost(added),
    removed_ids: atMost(removed),
    changed: atMost(changed).map(({ id, fields }) => changeOf(id, fields, newer, older, payloads, options)),
    stats: { added: added.length, removed: removed.length, changed: changed.length },
  };
};

const idsOf = (
  { tree, appeared }: RangeSide,
  selector: Selector,
  payloads: PayloadSource,
  only: Restricted['only'],
): readonly string[] => {
  const ids = select(tree, selector, payloads, appeared === undefined ? {} : { appeared });
  return only == null ? ids : ids.filter((id) => only.has(id));
};

const changeOf = (
  id: string,
  fields: readonly string[],
  newer: RangeSide,
  older: RangeSide,
  payloads: PayloadSource,
  options: RangeOptions,
): RangeChange => {
  const { includeContent, contentMode, contextLines } = rangeOptions(options);
  const value = ({ tree }: RangeSide, field: string): WideJson => fieldOf(tree, id, field, payloads);
  const change = {
    id,
    fields,
    delta: Object.fromEntries(
      fields.map((field) => [field, { from: value(newer, field), to: value(older, field) }]),
    ),
  };
  // Contents can only differ where their hash does.
  if (!includeContent || !fields.includes('content_hash')) return change;
  const side = (of: RangeSide) => ({ label: of.label, content: contentOf(of.tree, id, payloads) });
  return { ...change, content_diff: diffContents(side(older), side(newer), contentMode, contextLines) };
};

const indexOf = (tree: FlatTree, id: string): number => tree.indexOf(id) ?? -1;

/** The value of a field of a diff; null where a node has none. */
const fieldOf = (tree: FlatTree, id: string, field: string, payloads: PayloadSource): WideJson => {
  const index = indexOf(tree, id);
  if (field === 'parent') return tree.ids[tree.parents[index] as number] ?? null;
  return readerOf(field)({ tree, payloads, appeared: () => 0 }, index) ?? null;
};

const contentOf = (tree: FlatTree, id: string, payloads: PayloadSource): WideJson | undefined => {
  const ref = tree.payloads[indexOf(tree, id)];
  return ref === null || ref === undefined ? undefined : payloads(ref)['content'];
};
