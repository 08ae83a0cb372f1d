import { PayloadNeeded, type Change, type Mark } from '@stemma/context-tree';
import { fail, isStemmaError } from '@stemma/errors';
import type { Author, Frame, HistoryEvent } from '@stemma/events';
import type { AppliedFrame, AppliedSnapshot, Started } from './applied-frame.ts';
import { evolve, type LineageEvent } from './evolve.ts';
import { branch, freshLineage, lineageOf, scalarsOf, type Scalars } from './lineage.ts';
import { payloadIn } from './recorded-node.ts';
import type { ApplyFrame } from './signatures.ts';
import { PositionNeeded, type HistoryState, type LineageState, type Sources } from './state.ts';

/** How to take a frame back that was applied with `keep`. */
type Undo = {
  readonly lineage: LineageState;
  readonly mark: Mark;
  readonly scalars: Scalars;
  readonly renamed: readonly (() => void)[];
};
const undos = new WeakMap<AppliedFrame, Undo>();

export const applyFrame: ApplyFrame = (state, frame, sources, options = {}) => {
  const { envelope, body } = frame;
  if (envelope.seq !== state.next)
    throw fail('E_INTERNAL', `frame ${envelope.seq} is applied where ${state.next} is due`);
  const own = withOwnPayloads(sources, envelope.seq, body.events);
  try {
    return applyTo(state, frame, own, options.keep === true);
  } catch (error) {
    throw asDefect(error, state.history, envelope.seq);
  }
};

const applyTo = (state: HistoryState, frame: Frame, sources: Sources, keep: boolean): AppliedFrame => {
  const { seq } = frame.envelope;
  const { body } = frame;
  const first = body.events[0];
  if (first === undefined) throw fail('E_HISTORY_DEFECTIVE', 'a frame has no events');
  refuseBehindSnapshot(body.events);
  const renamed: (() => void)[] = [];
  const started = begin(state, first, seq, body.lineage, sources, renamed);
  const lineage = started?.lineage ?? lineageOf(state, body.lineage, sources);
  if (!keep && started === null) lineage.tree.forget();
  const mark = lineage.tree.mark();
  const scalars = scalarsOf(lineage);
  const changes: (readonly Change[])[] =
    started === null ? [] : [started.how.how === 'start' ? fixedChanges(lineage) : []];
  try {
    for (let index = changes.length; index < body.events.length; index++) {
      const before = lineage.tree.mark();
      evolve(lineage, lineageEvent(body.events[index] as HistoryEvent), { seq, index }, sources);
      changes.push(lineage.tree.changesSince(before));
    }
    if (!lineage.tree.settled) throw fail('E_HISTORY_DEFECTIVE', 'nodes are left whose container has gone');
  } catch (error) {
    takeBack(state, { lineage, mark, scalars, renamed }, started !== null);
    throw error;
  }
  lineage.seq = seq;
  state.next = seq + 1;
  const applied = appliedFrame(state, frame, changes, lineage, started?.how ?? null);
  if (keep) undos.set(applied, { lineage, mark, scalars, renamed });
  else lineage.tree.forget();
  return applied;
};

/** The position after the frame is the snapshot, so only names and notes may stand behind it. */
const refuseBehindSnapshot = (events: readonly HistoryEvent[]): void => {
  const snapshot = events.findIndex(
    ({ type }) => type === 'SnapshotCommitted' || type === 'SnapshotImported',
  );
  if (snapshot === -1) return;
  for (const { type } of events.slice(snapshot + 1))
    if (type !== 'PositionNamed' && type !== 'PositionAnnotated')
      throw fail('E_HISTORY_DEFECTIVE', `${type} stands behind the snapshot of the frame`);
};

/**
 * Takes back the newest applied frame that is not taken back yet; it must have been applied with `keep`. For a writer
 * whose frame did not become the history's next.
 */
export const revertFrame = (state: HistoryState, applied: AppliedFrame): void => {
  const undo = undos.get(applied);
  if (undo === undefined || state.next !== applied.seq + 1)
    throw fail('E_INTERNAL', `frame ${applied.seq} cannot be taken back`);
  undos.delete(applied);
  state.next = applied.seq;
  takeBack(state, undo, applied.started !== null);
};

/** Makes all frames applied with `keep` final and frees what was kept for taking them back. */
export const settle = (state: HistoryState): void => {
  for (const lineage of state.lineages.values()) lineage.tree.forget();
};

const takeBack = (state: HistoryState, undo: Undo, started: boolean): void => {
  undo.lineage.tree.undoTo(undo.mark);
  Object.assign(undo.lineage, undo.scalars);
  for (const back of undo.renamed) back();
  if (started) state.lineages.delete(undo.lineage.strand);
};

const lineageEvent = (event: HistoryEvent): LineageEvent => {
  if (
    event.type === 'HistoryStarted' ||
    event.type === 'LineageStarted' ||
    event.type === 'ObservationRecorded'
  )
    throw fail('E_HISTORY_DEFECTIVE', `${event.type} stands behind other events`);
  return event;
};

type Begun = { readonly lineage: LineageState; readonly how: Started };

/** The lineage that the frame's first event starts, or null. */
const begin = (
  state: HistoryState,
  event: HistoryEvent,
  seq: number,
  strand: number,
  sources: Sources,
  renamed: (() => void)[],
): Begun | null => {
  if (event.type !== 'HistoryStarted' && event.type !== 'LineageStarted') {
    if (seq === 0) throw fail('E_HISTORY_DEFECTIVE', 'the history does not begin with HistoryStarted');
    return null;
  }
  if (strand !== seq)
    throw fail('E_HISTORY_DEFECTIVE', `a lineage starts in frame ${seq} as strand ${strand}`);
  if (event.type === 'HistoryStarted') {
    if (seq !== 0) throw fail('E_HISTORY_DEFECTIVE', 'the history starts a second time');
    const lineage = freshLineage(event.ids, event.thread, event.cycle);
    state.lineages.set(0, lineage);
    return { lineage, how: { how: 'start' } };
  }
  const { parent, at } = event;
  if (at >= seq || parent >= seq)
    throw fail('E_HISTORY_DEFECTIVE', 'a lineage starts from what is not there yet');
  const lineage = branch(sources.position(parent, at), seq, { strand: parent, at }, event.name);
  const left = event.how === 'rollback' ? state.lineages.get(parent) : undefined;
  if (left !== undefined) {
    const { name } = left;
    renamed.push(() => (left.name = name));
    left.name = event.abandoned;
  }
  state.lineages.set(seq, lineage);
  return { lineage, how: { how: event.how, parent, at } };
};

const fixedChanges = ({ tree }: LineageState): readonly Change[] =>
  (['root', 'sys', 'seq', 'ah'] as const).map((fixed) => ({
    fixed,
    before: undefined,
    after: tree[fixed].record as never,
  }));

const appliedFrame = (
  state: HistoryState,
  frame: Frame,
  changes: readonly (readonly Change[])[],
  lineage: LineageState,
  started: Started | null,
): AppliedFrame => {
  const { body } = frame;
  const author: Author = 'recorder' in body ? { recorder: body.recorder } : { actor: body.actor };
  return {
    history: state.history,
    seq: frame.envelope.seq,
    at: body.at,
    author,
    command: body.command,
    digest: body.digest,
    lineage: body.lineage,
    events: body.events,
    changes,
    state: lineage,
    started,
    snapshot: snapshotIn(body.events),
  };
};

const snapshotIn = (events: readonly HistoryEvent[]): AppliedSnapshot | null => {
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i] as HistoryEvent;
    if (event.type === 'SnapshotCommitted' || event.type === 'SnapshotImported') return event;
  }
  return null;
};

/** Payloads of the frame itself come from its events, all others from the given source. */
export const withOwnPayloads = (sources: Sources, seq: number, events: readonly HistoryEvent[]): Sources => ({
  position: sources.position,
  payload: (ref) => {
    if (ref.seq !== seq) return sources.payload(ref);
    const event = events[ref.index];
    return event === undefined ? {} : payloadIn(event);
  },
});

/** Errors of the store (a content that is missing) are told as they are; the rest means that the frame is impossible. */
const asDefect = (error: unknown, history: string, seq: number): unknown => {
  if (error instanceof PayloadNeeded || error instanceof PositionNeeded || !isStemmaError(error))
    return error;
  const stored =
    error.code === 'E_CONTENT_MISSING' ||
    error.code === 'E_CONTENT_DAMAGED' ||
    error.code === 'E_IO' ||
    error.code === 'E_INTERNAL';
  return stored
    ? error
    : fail('E_HISTORY_DEFECTIVE', `frame ${seq} of ${history}: ${error.message}`, { history, seq });
};
