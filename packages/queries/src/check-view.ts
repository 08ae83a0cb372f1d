import { compareBytes } from '@stemma/canonical';
import { hashFlat, type FlatTree } from '@stemma/context-tree';
import { rowsDiffer, type SnapshotRow, type TreeView } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';

/*
 * Hashing a tree takes about as long as reading it. A position never changes: whoever has compared it once knows it again
 * by its outline, which costs next to nothing.
 */

/** The outline of each position that was compared, by the rows they were read from. */
const compared = new WeakMap<Projection, Map<string, number>>();
const MOST_KNOWN = 50_000;

/** True if a tree that was read of a snapshot has the hashes that were recorded for it. */
export const hasRecordedHash = (projection: Projection, view: TreeView, snapshot: SnapshotRow): boolean => {
  const { history, branchId, seq } = view.position;
  const key = `${branchId}/${seq} ${history}`;
  let known = compared.get(projection);
  if (known === undefined || known.size >= MOST_KNOWN)
    compared.set(projection, (known = new Map<string, number>()));
  const outline = outlineOf(view.tree);
  if (known.get(key) === outline) return true;
  const { treeHash, threadHash } = hashFlat(view.tree, view.payloads, view.thread);
  const same =
    compareBytes(treeHash, snapshot.treeHash) === 0 && compareBytes(threadHash, snapshot.threadHash) === 0;
  if (same) known.set(key, outline);
  return same;
};

/** A number for the versions of nodes that a tree has, and their places. */
const outlineOf = ({ count, headers, payloads, ends, ttls }: FlatTree): number => {
  let hash = count;
  const add = (value: number): void => {
    hash = Math.imul(hash ^ value, 0x9e37_79b1);
    hash ^= hash >>> 15;
  };
  for (let i = 0; i < count; i++) {
    const { id, priority } = headers[i] as (typeof headers)[number];
    for (let at = 0; at < id.length; at++) add(id.charCodeAt(at));
    const ref = payloads[i] ?? null;
    add(ref === null ? -1 : ref.seq);
    add(ref === null ? -1 : ref.index);
    add(ends[i] as number);
    add(ttls[i] ?? -1);
    add(priority);
  }
  return hash;
};

/** Lets damaged rows be built again. @throws E_ROWS_DAMAGED if others make them */
export const reportDifference = async (projection: Projection, { position }: TreeView): Promise<void> => {
  let told = false;
  await projection.read(() => {
    if (told) return;
    told = true;
    throw rowsDiffer(position.history, position.branchId, position.seq);
  });
};
