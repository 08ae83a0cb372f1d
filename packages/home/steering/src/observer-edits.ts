import type { WideJsonObject } from '@stemma/canonical';
import type { Headers } from '@stemma/context-tree';
import { splitNode } from '@stemma/history';
import { readAncestorPath, readNodeHistory, type Position, type Segment } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { listInterventions } from '@stemma/read-models';
import { LRUCache } from 'lru-cache';

/** The nodes that one intervention removed or replaced. */
type Edit = { readonly removed: readonly string[]; readonly replaced: ReadonlySet<string> };

/** A node as its recorder last recorded it. */
export type OriginalNode = {
  readonly headers: Headers;
  readonly payload: WideJsonObject;
  /** The parent that it was inserted under. */
  readonly parent: string;
};

/** What observers removed and replaced on the way to a position. */
export type ObserverEdits = {
  /** The frame of the intervention that removed a node, by its id. */
  readonly removed: ReadonlyMap<string, number>;
  /** True if the intervention of the frame replaced the node. */
  readonly replaces: (seq: number, id: string) => boolean;
  /** The node as its recorder had it; undefined: an observer inserted it. */
  readonly original: (id: string) => Promise<OriginalNode | undefined>;
};

const PAGE = 1_000;

/** Reads edits of observers; what a frame holds is read once. */
export const openObserverEdits = (
  projection: Projection,
): ((position: Position) => Promise<ObserverEdits>) => {
  const known = new LRUCache<string, Edit>({ max: 10_000 });
  const editIn = async (history: string, seq: number): Promise<Edit> => {
    const key = `${history} ${seq}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const events = await projection.payloads.events(history, seq);
    const edit: Edit = {
      removed: events.flatMap((event) => (event.type === 'NodeRemoved' ? [event.id, ...event.subtree] : [])),
      replaced: new Set(events.flatMap((event) => (event.type === 'NodeReplaced' ? [event.id] : []))),
    };
    known.set(key, edit);
    return edit;
  };
  const originalOf = async (
    history: string,
    path: readonly Segment[],
    edits: ReadonlyMap<number, Edit>,
    id: string,
  ): Promise<OriginalNode | undefined> => {
    const entries = await projection.read((rows) => readNodeHistory(rows, history, path, id));
    let found: OriginalNode | undefined;
    for (const { seq } of entries)
      for (const event of await projection.payloads.events(history, seq)) {
        if (event.type === 'NodeInserted' && event.node.id === id) {
          const { headers, payload } = splitNode(event.node);
          found = { headers, payload, parent: event.parent };
        } else if (event.type === 'NodeReplaced' && event.id === id && !edits.has(seq) && found !== undefined)
          found = { ...found, payload: event.payload as WideJsonObject };
      }
    return found;
  };
  return async ({ history, branchId, seq }) => {
    const [path, seqs] = await projection.read((rows) => {
      const segments = readAncestorPath(rows, history, branchId, seq);
      const limits = new Map(segments.map((segment) => [segment.branchId, segment.limit] as const));
      const found: number[] = [];
      for (let from: number | null = 0; from !== null;) {
        const page = listInterventions(rows, history, { type: 'edit', from, limit: PAGE });
        for (const row of page.rows) if (row.seq <= (limits.get(row.branchId) ?? -1)) found.push(row.seq);
        from = page.next;
      }
      return [segments, found] as const;
    });
    const edits = new Map<number, Edit>();
    for (const each of seqs) edits.set(each, await editIn(history, each));
    const removed = new Map<string, number>();
    for (const [each, edit] of edits) for (const id of edit.removed) removed.set(id, each);
    return {
      removed,
      replaces: (each, id) => edits.get(each)?.replaced.has(id) === true,
      original: (id) => originalOf(history, path, edits, id),
    };
  };
};
