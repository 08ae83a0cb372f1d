import type { FlatTree } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { parseRef, parseSelector, select, type Marker } from '@stemma/selectors';
import type { ReferenceHistory } from '../reference-history.ts';

type Options = { readonly limit?: number; readonly skip?: number };

/** The position that a marker names on a lineage's chain. @throws E_SNAPSHOT_NOT_FOUND */
export const positionAt = (
  history: ReferenceHistory,
  strand: number,
  at: Marker,
): { strand: number; seq: number | null } => {
  if (at.kind === 'working') return { strand, seq: null };
  const missing = (what: string): Error => fail('E_SNAPSHOT_NOT_FOUND', `there is no snapshot ${what}`);
  const chain = history.chain(strand);
  if (at.kind === 'all') throw missing('@*');
  if (at.kind === 'name') {
    const named = history.name(at.name);
    if (named === undefined) throw missing(`@name:${at.name}`);
    return named;
  }
  if (at.kind === 's') {
    const frame = history.applied[at.seq];
    if (frame === undefined) throw missing(`@s${at.seq}`);
    return { strand: frame.lineage, seq: at.seq };
  }
  const found = at.kind === 't' ? chain[-at.value] : chain.find(({ cycle }) => cycle === at.cycle);
  if (found === undefined) throw missing(at.kind === 't' ? `@t${at.value}` : `@c${at.cycle}`);
  return found;
};

/** The tree that a reference of the vectors names (`@c3`, or nothing for the working state). */
export const treeAt = (history: ReferenceHistory, strand: number, ref: string): FlatTree => {
  const { at } = parseRef(ref);
  const position = positionAt(history, strand, at);
  return history.tree(position.strand, position.seq);
};

/** The answer to a selector on a lineage: ids. @throws coded errors, E_SELECTOR_UNSUPPORTED for ranges and what else is not answered yet */
export const query = (
  history: ReferenceHistory,
  strand: number,
  text: string,
  options: Options = {},
): readonly string[] => {
  const selector = parseSelector(text);
  const { at } = selector;
  const unknown = Object.keys(options).find((name) => name !== 'limit' && name !== 'skip');
  if (at.kind === 'range' || unknown !== undefined)
    throw fail('E_SELECTOR_UNSUPPORTED', 'ranges are not answered yet');
  if (at.kind !== 'all') {
    const position = positionAt(history, strand, at);
    return select(history.tree(position.strand, position.seq), selector, history.payload, options);
  }
  const ids = new Set<string>();
  for (const { strand: on, seq } of history.chain(strand))
    for (const id of select(history.tree(on, seq), selector, history.payload)) ids.add(id);
  const skip = options.skip ?? 0;
  return [...ids].slice(skip, options.limit === undefined ? undefined : skip + options.limit);
};
