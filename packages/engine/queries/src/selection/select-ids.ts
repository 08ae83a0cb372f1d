import { fail } from '@stemma/errors';
import {
  listSnapshots,
  readTipSeq,
  type BranchRef,
  type Position,
  type SnapshotRow,
} from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import {
  inWindow,
  isLocal,
  parseSelector,
  rangeDiff,
  select,
  type Selector,
  type Window,
} from '@stemma/selectors';
import { positionAt } from '../read.ts';
import { appearedAt, type TreePosition } from './appeared.ts';
import type { LoadTree } from './load-tree.ts';
import { snapshotPairs } from './snapshot-pairs.ts';

/** What a selector needs to be answered. */
export type SelectSources = { readonly projection: Projection; readonly load: LoadTree };

export type SelectedIds = { readonly position: Position; readonly ids: readonly string[] };

/**
 * What a selector matches at the position it names (without one, in the draft), or with `@*` in all snapshots on the
 * ancestor path: newest first, each id once, where it is met first; the position is the newest snapshot (context-tree
 * §6).
 *
 * @throws E_SELECTOR_INVALID, also for a range; E_SNAPSHOT_NOT_FOUND
 */
export const selectIds = async (
  sources: SelectSources,
  branchRef: BranchRef,
  text: string,
  window: Window,
): Promise<SelectedIds> => {
  const selector = parseSelector(text);
  const { at } = selector;
  if (at.kind === 'range')
    throw fail(
      'E_SELECTOR_INVALID',
      'a range returns changes between snapshots, not ids: use the range command',
    );
  if (at.kind !== 'all') {
    const position = await sources.projection.read((rows) => positionAt(rows, branchRef, at));
    const ids = await idsAt(sources, position, selector, window);
    return { position, ids };
  }
  const position = await sources.projection.read((rows) =>
    positionAt(rows, branchRef, { kind: 't', value: 0 }),
  );
  return { position, ids: inWindow(await idsInAllSnapshots(sources, branchRef, selector, window), window) };
};

/** The ids that a selector matches at a position. */
export const idsAt = async (
  { projection, load }: SelectSources,
  position: TreePosition & { readonly committed: boolean },
  selector: Selector,
  window: Window = {},
): Promise<readonly string[]> => {
  const tree = await projection.read((rows) => load(rows, position, selector));
  return projection.payloads.using(position.history, (source) =>
    projection.read((rows) => {
      const appeared = appearedAt(rows, position, tree);
      return select(tree, selector, source, { ...window, snapshot: position.committed, appeared });
    }),
  );
};

/** The ids of all snapshots, as many as a window needs. */
const idsInAllSnapshots = async (
  sources: SelectSources,
  { history, branchId }: BranchRef,
  selector: Selector,
  { skip = 0, limit = Infinity }: Window,
): Promise<readonly string[]> => {
  const { projection } = sources;
  const snapshots = await projection.read((rows) =>
    listSnapshots(rows, history, branchId, readTipSeq(rows, history, branchId)),
  );
  const [newest] = snapshots;
  if (newest === undefined) return [];
  const found = new Set<string>();
  const hasEnough = (): boolean => found.size >= skip + limit;
  const addIds = (ids: readonly string[]): void => {
    for (const id of ids) found.add(id);
  };
  const idsInSnapshot = (row: SnapshotRow): Promise<readonly string[]> =>
    idsAt(sources, { history, branchId: row.branchId, seq: row.seq, committed: true }, selector);
  addIds(await idsInSnapshot(newest));
  if (!isLocal(selector)) {
    for (const row of snapshots.slice(1)) {
      if (hasEnough()) break;
      addIds(await idsInSnapshot(row));
    }
    return [...found];
  }
  if (hasEnough()) return [...found];
  // An id that only the older of two matches is new here, or one that was already listed.
  for await (const { newer, older, ids } of snapshotPairs(projection, history, snapshots)) {
    const sides = [
      { label: 'newer', tree: newer },
      { label: 'older', tree: older },
    ] as const;
    const { removed_ids } = await projection.payloads.using(history, (source) =>
      rangeDiff(...sides, selector, source, { only: ids }),
    );
    addIds(removed_ids);
    if (hasEnough()) break;
  }
  return [...found];
};
