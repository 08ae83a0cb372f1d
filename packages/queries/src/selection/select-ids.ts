import { fail } from '@stemma/errors';
import { listSnapshots, readHead, type Line, type Position, type SnapshotRow } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
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
import { appearedAt, type At } from './appeared.ts';
import type { LoadTree } from './load-tree.ts';
import { pairsBack } from './pairs-back.ts';

/** What a selector needs to be answered. */
export type Asked = { readonly projector: ServedRows; readonly load: LoadTree };

export type Selected = { readonly position: Position; readonly ids: readonly string[] };

/**
 * What a selector matches at the position it names (without one, in the working state), or with `@*` in all snapshots on
 * the chain: newest first, each id where it is first met, the position being the newest snapshot (context-tree §6).
 *
 * @throws E_SELECTOR_INVALID, also for a range; E_SNAPSHOT_NOT_FOUND
 */
export const selectIds = async (
  asked: Asked,
  line: Line,
  text: string,
  window: Window,
): Promise<Selected> => {
  const selector = parseSelector(text);
  const { at } = selector;
  if (at.kind === 'range')
    throw fail('E_SELECTOR_INVALID', 'a range gives no list of ids but the differences of its snapshots');
  if (at.kind !== 'all') {
    const position = await asked.projector.read((rows) => positionAt(rows, line, at));
    const ids = await idsAt(asked, position, selector, window);
    return { position, ids };
  }
  const position = await asked.projector.read((rows) => positionAt(rows, line, { kind: 't', value: 0 }));
  return { position, ids: inWindow(await idsOfAll(asked, line, selector, window), window) };
};

/** The ids that a selector matches at a position. */
export const idsAt = async (
  { projector, load }: Asked,
  position: At & { readonly committed: boolean },
  selector: Selector,
  window: Window = {},
): Promise<readonly string[]> => {
  const tree = await projector.read((rows) => load(rows, position, selector));
  return projector.payloads.using(position.history, (source) =>
    projector.read((rows) => {
      const appeared = appearedAt(rows, position, tree);
      return select(tree, selector, source, { ...window, snapshot: position.committed, appeared });
    }),
  );
};

/** The ids of all snapshots, as many as a window needs. */
const idsOfAll = async (
  asked: Asked,
  { history, strand }: Line,
  selector: Selector,
  { skip = 0, limit = Infinity }: Window,
): Promise<readonly string[]> => {
  const { projector } = asked;
  const snapshots = await projector.read((rows) =>
    listSnapshots(rows, history, strand, readHead(rows, history, strand)),
  );
  const [newest] = snapshots;
  if (newest === undefined) return [];
  const found = new Set<string>();
  const enough = (): boolean => found.size >= skip + limit;
  const take = (ids: readonly string[]): void => {
    for (const id of ids) found.add(id);
  };
  const whole = (row: SnapshotRow): Promise<readonly string[]> =>
    idsAt(asked, { history, strand: row.strand, seq: row.seq, committed: true }, selector);
  take(await whole(newest));
  if (!isLocal(selector)) {
    for (const row of snapshots.slice(1)) {
      if (enough()) break;
      take(await whole(row));
    }
    return [...found];
  }
  if (enough()) return [...found];
  // What the newer of two does not give and the older does was not met before, or is told again.
  for await (const { newer, older, ids } of pairsBack(projector, history, snapshots)) {
    const sides = [
      { label: 'newer', tree: newer },
      { label: 'older', tree: older },
    ] as const;
    const { removed_ids } = await projector.payloads.using(history, (source) =>
      rangeDiff(...sides, selector, source, { only: ids }),
    );
    take(removed_ids);
    if (enough()) break;
  }
  return [...found];
};
