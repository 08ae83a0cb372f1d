import type { PayloadSource } from '@stemma/context-tree';
import type { BranchPosition } from '@stemma/events';
import {
  findCommand,
  type BranchRef,
  type Position,
  type TreeAt,
  type TreeView,
} from '@stemma/history-store';
import {
  catchUpWith,
  diffNeighbours,
  diffPositions,
  listEventsOfNode,
  listHistoryPage,
  nodeViewOf,
  oneHistory,
  type openTreeLoader,
  partialViewOf,
  positionOf,
  readFrameEvents,
  readOf,
  selectIds,
  selectRange,
  snapshotsOf,
  treeAt,
  viewOf,
  type DiffResult,
  type HistoryFilter,
  type HistoryList,
  type HistorySummary,
  type LoggedEvent,
  type SnapshotSummary,
} from '@stemma/queries';
import { findFrameSummary, listFrameSummaries } from '@stemma/read-models';
import type { RangeOptions, RangeResult } from '@stemma/selectors';
import type { HomeServices } from './home-services.ts';

/** What histories hold: trees at positions, snapshots, events. */
export type HomeReading = {
  /** All of them, the one that changed last first. */
  histories(): Promise<readonly HistorySummary[]>;
  /** Those that a filter lets through, a page of them, in the same order. */
  listHistories(filter: HistoryFilter): Promise<HistoryList>;
  /** @throws E_HISTORY_NOT_FOUND */
  history(id: string): Promise<HistorySummary>;
  /** The frame of a command that was accepted in a history. */
  findCommand(history: string, id: string): Promise<BranchPosition | undefined>;
  snapshots(
    branchRef: BranchRef,
    page?: { readonly before?: number; readonly limit?: number },
  ): Promise<readonly SnapshotSummary[]>;
  view(position: Position): Promise<TreeView>;
  /** As `view`, but of some nodes with what they contain: reads these, and not the rest of the tree. */
  partialView(position: Position, ids: readonly string[]): Promise<TreeView>;
  /**
   * As `view`, but of one node with what contains it and what it contains; undefined if the position does not have it. Depths are
   * those of the whole.
   */
  nodeView(position: Position, id: string): Promise<TreeView | undefined>;
  /** As `view`, but no content is read: for those who want a part of a large tree. */
  tree(position: Position): Promise<TreeAt>;
  /**
   * What `fn` makes of contents of a history. It is called again, with those at hand that it asked for, until it no
   * longer throws `Missing`.
   */
  withPayloads<T>(history: string, fn: (source: PayloadSource) => T): Promise<T>;
  select(
    branchRef: BranchRef,
    selector: string,
    window?: { readonly limit?: number; readonly skip?: number },
  ): Promise<{ readonly position: Position; readonly ids: readonly string[] }>;
  /** What a selector gives over a range of snapshots, each against the one before it (context-tree §6). */
  range(branchRef: BranchRef, selector: string, options?: RangeOptions): Promise<RangeResult>;
  /** With a selector, restricted to what it matches in either of the two (context-tree §7). */
  diff(branchRef: BranchRef, a: string, b: string, selector?: string): Promise<DiffResult>;
  /** The difference of two trees of one ancestor path, of which somebody has both: reads only what is between them. */
  diffTrees(older: TreeAt, newer: TreeAt): Promise<DiffResult>;
  /**
   * Accepted events of a history from frame `from`, oldest first, a page at a time; with `node` those that named it or took
   * it along, in all branches. @throws E_NODE_NOT_FOUND if the history never had it
   */
  events(
    history: string,
    page?: { readonly from?: number; readonly limit?: number; readonly node?: string },
  ): Promise<readonly LoggedEvent[]>;
};

/** What trees are read with; `load` keeps those that were read last. */
export type TreeSources = {
  readonly projection: HomeServices['projection'];
  readonly load: ReturnType<typeof openTreeLoader>;
};

export const openReading = ({ projection, prices }: HomeServices, sources: TreeSources): HomeReading => {
  /** Everything that is in the log now is seen by what is read next. */
  const readCurrent = async <T>(fn: Parameters<typeof projection.read<T>>[0]): Promise<T> => {
    await projection.catchUp();
    return projection.read(fn);
  };
  return {
    histories: () => readCurrent((rows) => listHistoryPage(rows).histories),
    listHistories: (filter) => readCurrent((rows) => listHistoryPage(rows, filter)),
    history: (id) => readOf(projection, id, (rows) => oneHistory(rows, id)),
    findCommand: (history, id) =>
      readOf(projection, history, (rows) => {
        const seq = findCommand(rows, history, id)?.seq;
        return seq === undefined
          ? undefined
          : { seq, branchId: findFrameSummary(rows, history, seq).branchId };
      }),
    snapshots: async (branchRef, page) => {
      const table = await prices();
      return readOf(projection, branchRef.history, (rows) => snapshotsOf(rows, branchRef, page, table));
    },
    view: async (position) => viewOf(projection, position),
    partialView: (position, ids) => partialViewOf(projection, position, ids),
    nodeView: (position, id) => nodeViewOf(projection, position, id),
    tree: (position) => treeAt(projection, position),
    withPayloads: (history, fn) => projection.payloads.using(history, fn),
    select: async (branchRef, selector, window = {}) => {
      await catchUpWith(projection, branchRef.history);
      return selectIds(sources, branchRef, selector, window);
    },
    range: async (branchRef, selector, options = {}) => {
      await catchUpWith(projection, branchRef.history);
      return selectRange(sources, branchRef, selector, options);
    },
    diff: async (branchRef, a, b, selector) => {
      const [older, newer] = await readOf(
        projection,
        branchRef.history,
        (rows) => [positionOf(rows, branchRef, a), positionOf(rows, branchRef, b)] as const,
      );
      return diffPositions(sources, older, newer, selector);
    },
    diffTrees: (older, newer) => diffNeighbours(projection, older, newer),
    events: async (history, { from = 0, limit = 1000, node } = {}) => {
      if (node !== undefined) {
        await catchUpWith(projection, history);
        return listEventsOfNode(projection, history, node, { from, limit });
      }
      const frameSummaries = await readOf(projection, history, (rows) =>
        listFrameSummaries(rows, history, { from, limit }),
      );
      const pages: LoggedEvent[] = [];
      for (const { seq } of frameSummaries) pages.push(...(await readFrameEvents(projection, history, seq)));
      return pages;
    },
  };
};
