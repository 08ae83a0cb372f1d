import { changedFields } from '@stemma/events';
import type { Cause } from '@stemma/history';
import type { Projection } from '@stemma/projector';
import {
  findCycle,
  readAncestryView,
  readTimeline,
  type AncestryView,
  type TimelineEntry,
} from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import type { BreakCause } from './cache-types.ts';
import type { EventLocation, Frames } from './origin.ts';

/** The first message of the old thread that the new one lacks there, and the one that it has instead. */
export type ThreadDivergence = {
  readonly old: string;
  /** Undefined where the new thread ends. */
  readonly fresh: string | undefined;
  /** Whether the old message is anywhere in the new thread, and the new one in the old thread. */
  readonly oldRemains: boolean;
  readonly freshWasThere: boolean;
};

/**
 * The frames between two neighbouring snapshots of an ancestor path: those after frame `after`, up to the snapshot
 * `to`.
 */
export type FrameRange = {
  readonly history: string;
  readonly after: number;
  readonly to: { readonly branchId: number; readonly seq: number; readonly cycle: number };
};

type CauseEvent = EventLocation & { readonly cause: Cause };
type BreakAnswer = Pick<BreakCause, 'node' | 'what'> & {
  readonly found: CauseEvent | undefined;
  readonly entered: EventLocation | undefined;
};

/** Why two threads part where they part, from the recorded causes of the node there (causes). */
export const findBreakCause = async (
  projection: Projection,
  frames: Frames,
  range: FrameRange,
  divergence: ThreadDivergence,
): Promise<BreakCause> => {
  const { history, after, to } = range;
  // A replacement may have set other attributes only; the rows do not show that.
  const { node, what, found, entered } = await projection.read((rows) =>
    answerFor(openTimelines(rows, readAncestryView(rows, history, to.branchId, to.seq), after), divergence),
  );
  const setEvent = what === 'changed' ? await newestContent(frames, projection, range, node) : undefined;
  const event = setEvent ?? found;
  const [origin, first] = [
    event === undefined ? [] : await frames.describe([event]),
    entered === undefined ? [] : await frames.describe([entered]),
  ];
  return { node, what, cause: event?.cause ?? null, origin: origin[0] ?? null, entered: first[0] ?? null };
};

const answerFor = (
  timelines: Timelines,
  { old, fresh, oldRemains, freshWasThere }: ThreadDivergence,
): BreakAnswer => {
  const answer = (node: string, what: BreakCause['what'], found: CauseEvent | undefined): BreakAnswer => {
    const added = timelines.of(node)[0];
    const brought = found !== undefined && added?.seq === found.seq && added.index === found.index;
    return { node, what, found, entered: brought ? undefined : added };
  };
  if (old === fresh) return answer(old, 'changed', timelines.moved(old));
  if (!oldRemains)
    return answer(old, 'removed', timelines.removed(old) ?? timelines.moved(old) ?? timelines.sealed());
  if (fresh !== undefined && !freshWasThere)
    return answer(fresh, 'added', timelines.added(fresh) ?? timelines.moved(fresh) ?? timelines.unsealed());
  const moved = fresh === undefined ? undefined : timelines.moved(fresh);
  if (fresh !== undefined && moved !== undefined) return answer(fresh, 'moved', moved);
  return answer(old, 'moved', timelines.moved(old) ?? timelines.sealedElsewhere(old));
};

type Timelines = ReturnType<typeof openTimelines>;

/** Functions that return what happened to nodes between two snapshots. */
const openTimelines = (rows: RowReader, ancestry: AncestryView, after: number) => {
  const readEntries = (id: string): readonly TimelineEntry[] => readTimeline(rows, ancestry, id);
  const last = (id: string, fits: (entry: TimelineEntry) => boolean): TimelineEntry | undefined =>
    readEntries(id).findLast((entry) => entry.seq > after && fits(entry));
  const isMove = ({ cause }: TimelineEntry): boolean =>
    cause.kind === 'mutation' && (cause.op === 'move' || cause.op === 'carry');
  return {
    of: readEntries,
    added: (id: string) => last(id, ({ explains }) => explains === 'added'),
    removed: (id: string) => last(id, ({ explains }) => explains === 'removed'),
    /** The event that moved the node, or else the nearest of its ancestors. */
    moved: (id: string): CauseEvent | undefined => {
      for (let nodeId: string | null = id; nodeId !== null;) {
        const found = last(nodeId, isMove);
        if (found !== undefined)
          return nodeId === id ? found : { ...found, cause: { kind: 'mutation', op: 'carry', by: nodeId } };
        nodeId = readEntries(nodeId).findLast(({ parent }) => parent !== undefined)?.parent ?? null;
      }
      return undefined;
    },
    /** The event that sealed its head as a turn, which may come before a turn that an import put at the end. */
    sealedElsewhere: (id: string): CauseEvent | undefined =>
      last(id, ({ cause }) => cause.kind === 'sealing'),
    /** With `thread: "pre"` the thread loses the old turn's pre-context when a new turn is sealed, … */
    sealed: (): CauseEvent | undefined => {
      const commit = findCycle(rows, ancestry, ancestry.cycle);
      if (commit?.turn == null || commit.seq <= after) return undefined;
      const { seq, turn } = commit;
      return { seq, index: turn.index, cause: { kind: 'sealing', turn: turn.id } };
    },
    /** … and shows that of the turn before again when the newest is removed. */
    unsealed: (): CauseEvent | undefined => {
      for (let cycle = ancestry.cycle - 1; cycle >= 0; cycle--) {
        const turn = findCycle(rows, ancestry, cycle)?.turn?.id;
        const removedBy =
          turn === undefined ? undefined : readEntries(turn).findLast((each) => each.explains === 'removed');
        if (turn === undefined || (removedBy !== undefined && removedBy.seq <= after)) continue;
        return removedBy;
      }
      return undefined;
    },
  };
};

/** The newest event in the range that set a content; undefined if only other attributes were changed. */
const newestContent = async (
  frames: Frames,
  projection: Projection,
  { history, after, to }: FrameRange,
  node: string,
): Promise<CauseEvent | undefined> => {
  const entries = await projection.read((rows) =>
    readTimeline(rows, readAncestryView(rows, history, to.branchId, to.seq), node),
  );
  const replaced = entries.filter(
    ({ seq, cause }) => seq > after && cause.kind === 'mutation' && cause.op === 'replace',
  );
  const eventAt = await frames.loadEvents(replaced.map(({ seq }) => seq));
  return replaced.findLast((entry) => changedFields(eventAt(entry)).includes('content'));
};
