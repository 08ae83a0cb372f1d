import type { RecordChange } from '@stemma/context-tree';
import { fail, isStemmaError } from '@stemma/errors';
import { isOf, type Author, type Frame, type HistoryEvent } from '@stemma/events';
import type { AppliedFrame, AppliedSnapshot, BranchStart, KeptFrame } from './applied-frame.ts';
import { branchScalars, branchTip, newRootBranch, requireBranch } from './branch.ts';
import type { ApplyFrame, PendingDecision } from './contracts.ts';
import { evolve, type BranchEvent } from './evolve.ts';
import { payloadIn } from './recorded-node.ts';
import type { BranchState, HistoryState, Sources } from './state.ts';

/** How to undo a frame that was applied with `keep`. */
const undos = new WeakMap<KeptFrame, () => void>();

type UndoableFrame = { readonly applied: AppliedFrame; readonly undo: () => void };

export const applyFrame: ApplyFrame = (state, frame, sources, options = {}) => {
  const { envelope, body } = frame;
  if (envelope.seq !== state.next)
    throw fail('E_INTERNAL', `frame ${envelope.seq} is applied where ${state.next} is expected`);
  const own = withOwnPayloads(sources, envelope.seq, body.events);
  try {
    const keep = options.keep === true;
    const { applied, undo } = applyTo(state, frame, own, keep);
    state.next = envelope.seq + 1;
    if (erases(applied)) state.erased = true;
    if (keep) undos.set(applied, undo);
    return applied;
  } catch (error) {
    throw asDefect(error, state.history, envelope.seq);
  }
};

const erases = ({ events }: KeptFrame): boolean => events.some((event) => isOf(event, 'erasure'));

const applyTo = (state: HistoryState, frame: Frame, sources: Sources, keep: boolean): UndoableFrame => {
  const { events } = frame.body;
  const lead = refuseMisplaced(frame);
  const first = events[lead];
  if (first === undefined && lead === 0) throw fail('E_HISTORY_DEFECTIVE', 'a frame has no events');
  if (frame.envelope.seq === 0 && first?.type !== 'HistoryStarted')
    throw fail('E_HISTORY_DEFECTIVE', 'the history does not begin with HistoryStarted');
  if (first !== undefined && isOf(first, 'observation')) return applyObservations(state, frame, sources);
  if (first?.type === 'BranchStarted') return applyBranchStarted(state, frame, first, sources);
  refuseAfterSnapshot(events);
  return applyToBranch(state, frame, lead, sources, keep);
};

/** How many interventions lead the frame: none or one. An intervention must come first and have an actor. */
const refuseMisplaced = ({ body }: Frame): number => {
  const [first, ...others] = body.events;
  if (body.events.slice(0, -1).some(({ type }) => type === 'ContentRedacted'))
    throw fail('E_HISTORY_DEFECTIVE', 'ContentRedacted comes before other events');
  if (others.some(({ type }) => type === 'InterventionRecorded'))
    throw fail('E_HISTORY_DEFECTIVE', 'InterventionRecorded comes after other events');
  if (first?.type !== 'InterventionRecorded') return 0;
  if (!('actor' in body)) throw fail('E_HISTORY_DEFECTIVE', 'an intervention has no actor');
  return 1;
};

/** Observations belong to no branch: only the number of the next frame changes. */
const applyObservations = (state: HistoryState, frame: Frame, sources: Sources): UndoableFrame => {
  const { body, envelope } = frame;
  if (!('actor' in body)) throw fail('E_HISTORY_DEFECTIVE', 'an observation has no actor');
  for (const event of body.events) {
    if (isOf(event, 'redaction')) continue;
    if (!isOf(event, 'observation'))
      throw fail('E_HISTORY_DEFECTIVE', `${event.type} is recorded beside observations`);
    if (event.branchId > event.seq || event.seq >= envelope.seq)
      throw fail('E_HISTORY_DEFECTIVE', 'an observation names a position that does not exist yet');
  }
  if (branchTip(state, body.branchId, sources) === undefined)
    throw fail('E_HISTORY_DEFECTIVE', `there is no branch ${body.branchId}`);
  const branch = (): BranchState => requireBranch(state, body.branchId, sources);
  return { applied: appliedFrame(state, frame, noChanges(frame), branch, null), undo: () => undefined };
};

const noChanges = ({ body }: Frame): readonly (readonly RecordChange[])[] => body.events.map(() => []);

/**
 * Starts a branch at a position. No tree is loaded until it is needed, so the cost does not depend on the tree's size.
 */
const applyBranchStarted = (
  state: HistoryState,
  frame: Frame,
  event: Extract<HistoryEvent, { type: 'BranchStarted' }>,
  sources: Sources,
): UndoableFrame => {
  const { seq } = frame.envelope;
  const { branchId, events } = frame.body;
  const { parent, at, how, name, abandoned } = event;
  if (branchId !== seq)
    throw fail('E_HISTORY_DEFECTIVE', `a branch starts in frame ${seq} as branch ${branchId}`);
  if (at >= seq || parent >= seq || branchTip(state, parent, sources) === undefined)
    throw fail('E_HISTORY_DEFECTIVE', 'a branch starts at a position that does not exist yet');
  for (const { type } of events.slice(events.indexOf(event) + 1))
    if (type !== 'PositionNamed' && type !== 'PositionAnnotated' && type !== 'ContentRedacted')
      throw fail('E_HISTORY_DEFECTIVE', `${type} comes after BranchStarted`);
  const undoRename = how === 'rollback' ? renameBranch(state, parent, abandoned) : () => undefined;
  state.startedBranches.set(seq, { branchId, parent: { branchId: parent, at }, name, seq });
  const branch = (): BranchState => requireBranch(state, branchId, sources);
  return {
    applied: appliedFrame(state, frame, noChanges(frame), branch, { how, parent, at }),
    undo: () => {
      state.startedBranches.delete(seq);
      state.loadedBranches.delete(seq);
      undoRename();
    },
  };
};

/** Gives the branch that a rollback abandons its new name; returns a function that undoes this. */
const renameBranch = (state: HistoryState, branchId: number, name: string | null): (() => void) => {
  const known = state.loadedBranches.get(branchId) ?? state.startedBranches.get(branchId);
  const before = known?.name ?? null;
  const noted = state.abandonedNames.get(branchId);
  if (known !== undefined) known.name = name;
  state.abandonedNames.set(branchId, name);
  return () => {
    const now = state.loadedBranches.get(branchId) ?? state.startedBranches.get(branchId);
    if (now !== undefined && known !== undefined) now.name = before;
    if (noted === undefined) state.abandonedNames.delete(branchId);
    else state.abandonedNames.set(branchId, noted);
  };
};

const applyToBranch = (
  state: HistoryState,
  frame: Frame,
  lead: number,
  sources: Sources,
  keep: boolean,
): UndoableFrame => {
  const { seq } = frame.envelope;
  const { events, branchId } = frame.body;
  const first = events[lead];
  const start = first?.type === 'HistoryStarted' ? startOf(seq, branchId, first) : null;
  const branch = start ?? requireBranch(state, branchId, sources);
  if (start !== null) state.loadedBranches.set(0, start);
  else if (!keep) branch.tree.forget();
  const undo = undoTo(state, branch, start !== null);
  const changes: (readonly RecordChange[])[] = events.slice(0, lead).map(() => []);
  if (start !== null) changes.push(fixedChanges(start));
  try {
    for (let index = changes.length; index < events.length; index++) {
      const before = branch.tree.savepoint();
      evolve(branch, branchEvent(events[index] as HistoryEvent), { seq, index }, sources);
      changes.push(branch.tree.changesSince(before));
    }
    refuseOrphans(branch);
  } catch (error) {
    undo();
    throw error;
  }
  branch.seq = seq;
  if (!keep) branch.tree.forget();
  const how: BranchStart | null = start === null ? null : { how: 'start' };
  return { applied: appliedFrame(state, frame, changes, () => branch, how), undo };
};

/** Undoes everything that is done to a branch from now on. @param starts true if its history starts with it */
const undoTo = (state: HistoryState, branch: BranchState, starts: boolean): (() => void) => {
  const savepoint = branch.tree.savepoint();
  const scalars = branchScalars(branch);
  return () => {
    branch.tree.rollbackTo(savepoint);
    Object.assign(branch, scalars);
    if (starts) state.loadedBranches.delete(0);
  };
};

const refuseOrphans = ({ tree }: BranchState): void => {
  if (!tree.hasNoOrphans) throw fail('E_HISTORY_DEFECTIVE', 'nodes remain whose container is removed');
};

/**
 * A pending decision on a branch, begun before anything is decided: events that are applied to the branch from now on can be kept as a frame.
 *
 * @param starts true if the history starts with the branch, which is not among those of the state then
 */
export const beginPending = (state: HistoryState, branch: BranchState, starts: boolean): PendingDecision => {
  const undo = undoTo(state, branch, starts);
  const keep = (frame: Frame): KeptFrame => {
    const { seq } = frame.envelope;
    refuseMisplaced(frame);
    refuseAfterSnapshot(frame.body.events);
    refuseOrphans(branch);
    branch.seq = seq;
    state.next = seq + 1;
    if (starts) state.loadedBranches.set(0, branch);
    const kept = keptFrame(state, frame, () => branch, starts ? { how: 'start' } : null);
    if (erases(kept)) state.erased = true;
    undos.set(kept, undo);
    return kept;
  };
  return {
    keep: (frame) => {
      if (frame.envelope.seq !== state.next)
        throw fail('E_INTERNAL', `frame ${frame.envelope.seq} is kept where ${state.next} is expected`);
      try {
        return keep(frame);
      } catch (error) {
        undo();
        throw asDefect(error, state.history, frame.envelope.seq);
      }
    },
    drop: undo,
  };
};

type HistoryStarted = Extract<HistoryEvent, { type: 'HistoryStarted' }>;

const startOf = (seq: number, branchId: number, event: HistoryStarted): BranchState => {
  if (branchId !== seq)
    throw fail('E_HISTORY_DEFECTIVE', `a branch starts in frame ${seq} as branch ${branchId}`);
  if (seq !== 0) throw fail('E_HISTORY_DEFECTIVE', 'the history starts a second time');
  return newRootBranch(event.ids, event.thread, event.cycle);
};

/** The position after the frame is the snapshot, so only names, notes, calls and what was redacted may follow it. */
const refuseAfterSnapshot = (events: readonly HistoryEvent[]): void => {
  const snapshot = events.findIndex((event) => isOf(event, 'snapshot'));
  if (snapshot === -1) return;
  for (const event of events.slice(snapshot + 1))
    if (!isOf(event, 'label') && !isOf(event, 'call') && !isOf(event, 'redaction'))
      throw fail('E_HISTORY_DEFECTIVE', `${event.type} comes after the snapshot of the frame`);
};

/**
 * Undoes the newest applied frame that is not undone yet; it must have been applied with `keep`. For a writer whose
 * frame was not accepted as the history's next.
 */
export const revertFrame = (state: HistoryState, applied: KeptFrame): void => {
  const undo = undos.get(applied);
  if (undo === undefined || state.next !== applied.seq + 1)
    throw fail('E_INTERNAL', `frame ${applied.seq} cannot be undone`);
  undos.delete(applied);
  state.next = applied.seq;
  if (erases(applied)) state.erased = false;
  undo();
};

/**
 * Frees what undoing the frames applied with `keep` would need: they cannot be undone any more. While the loaded trees
 * have more than `most` nodes together, drops trees of branches other than `used`; they are loaded again when needed.
 */
export const freeMemory = ({ loadedBranches }: HistoryState, most: number, used: number): void => {
  const kept = loadedBranches.get(used);
  loadedBranches.delete(used);
  if (kept !== undefined) loadedBranches.set(used, kept);
  let nodes = 0;
  for (const { tree } of loadedBranches.values()) {
    tree.forget();
    nodes += tree.loadedNodes;
  }
  for (const [branchId, { tree }] of loadedBranches) {
    if (nodes <= most || loadedBranches.size === 1) return;
    loadedBranches.delete(branchId);
    nodes -= tree.loadedNodes;
  }
};

const branchEvent = (event: HistoryEvent): BranchEvent => {
  if (isOf(event, 'start') || isOf(event, 'observation'))
    throw fail('E_HISTORY_DEFECTIVE', `${event.type} comes after other events`);
  return event;
};

const fixedChanges = ({ tree }: BranchState): readonly RecordChange[] =>
  (['root', 'sys', 'seq', 'ah'] as const).map((fixed) => ({
    fixed,
    before: undefined,
    after: tree[fixed].record as never,
  }));

const appliedFrame = (
  state: HistoryState,
  frame: Frame,
  changes: readonly (readonly RecordChange[])[],
  branch: () => BranchState,
  started: BranchStart | null,
): AppliedFrame => Object.assign(keptFrame(state, frame, branch, started), { changes });

const keptFrame = (
  state: HistoryState,
  frame: Frame,
  branch: () => BranchState,
  started: BranchStart | null,
): KeptFrame => {
  const { body } = frame;
  const author: Author = 'recorder' in body ? { recorder: body.recorder } : { actor: body.actor };
  return {
    history: state.history,
    seq: frame.envelope.seq,
    at: body.at,
    author,
    command: body.command,
    digest: body.digest,
    branchId: body.branchId,
    events: body.events,
    get state() {
      return branch();
    },
    started,
    snapshot: snapshotIn(body.events),
    observed: body.events[0] !== undefined && isOf(body.events[0], 'observation'),
  };
};

const snapshotIn = (events: readonly HistoryEvent[]): AppliedSnapshot | null => {
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i] as HistoryEvent;
    if (isOf(event, 'snapshot')) return event;
  }
  return null;
};

/** Payloads of the frame itself come from its events, all others from the given source. */
export const withOwnPayloads = (sources: Sources, seq: number, events: readonly HistoryEvent[]): Sources => ({
  position: sources.position,
  branchTip: sources.branchTip,
  payload: (ref) => {
    if (ref.seq !== seq) return sources.payload(ref);
    const event = events[ref.index];
    return event === undefined ? {} : payloadIn(event);
  },
});

/** Errors of the store (a missing content) pass unchanged; any other error means that the frame is impossible. */
const asDefect = (error: unknown, history: string, seq: number): unknown => {
  if (!isStemmaError(error)) return error;
  const stored =
    error.code === 'E_CONTENT_MISSING' ||
    error.code === 'E_CONTENT_DAMAGED' ||
    error.code === 'E_IO' ||
    error.code === 'E_INTERNAL';
  return stored
    ? error
    : fail('E_HISTORY_DEFECTIVE', `frame ${seq} of ${history}: ${error.message}`, { history, seq });
};
