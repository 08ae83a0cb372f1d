import type { PayloadSource } from '@stemma/context-tree';
import type { BranchState, Command } from '@stemma/history';
import {
  checkLoadedBranch,
  findBranchByName,
  findCommand,
  findNamedPosition,
  FRAMES,
  isIdTaken,
  listLookups,
  loadBranchFromRows,
  loadTurns,
  mainBranchId,
  readBranchTip,
  readHistoryHead,
  readHistoryHeads,
  readPositionMeta,
  readTipSeq,
} from '@stemma/history-store';
import {
  checkpointAtStart,
  partitionOf,
  ZERO_HASH,
  type Domain,
  type EventLog,
  type HeadState,
  type KnownFrames,
} from '@stemma/log';
import { decodeCheckpoint, type Projection } from '@stemma/projector';
import type { GenerationView } from '@stemma/row-store';
import { isMissing } from '@stemma/suspend';
import { openDecisionState, type DecisionStateOptions } from './decision-state.ts';
import type { HistoryFacts, HistoryRows } from './history-rows.ts';

/**
 * The domain of the writer: it decides on the rows of a projector, by the rules of histories.
 *
 * @param onPosition as `DecisionStateOptions.onPosition`
 */
export const openRowsDomain = (
  log: EventLog,
  projection: Projection,
  clock: () => bigint,
  onPosition: DecisionStateOptions['onPosition'],
  mostAhead?: DecisionStateOptions['mostAhead'],
): Domain<Command> => ({
  checkpoint: async (partition) =>
    (await projection.checkpoint(partition)) ?? checkpointAtStart(log, partition),
  heads: (partition, histories) =>
    projection.read((view) => ({
      asOf: rowsOffset(view, partition),
      heads: readHistoryHeads(view, histories),
    })),
  load: async (history, from) => {
    const partition = partitionOf(history, log.partitions);
    const { asOf, head, main, known } = await projection.read((view) => {
      const head = readHistoryHead(view, history);
      return {
        asOf: rowsOffset(view, partition),
        head,
        main: mainBranchId(view, history),
        known: knownFrames(view, history, head, from),
      };
    });
    const rows = openHistoryRows(projection, history);
    const { next = 0, prev = ZERO_HASH } = head ?? {};
    const session = openDecisionState({
      ...{ history, next, prev, asOf, rows, main, clock, onPosition, mostAhead },
    });
    return { session, head, known };
  },
});

/** The frames of a history that is open, from `from` on; nothing is written to another. */
const knownFrames = (
  view: GenerationView,
  history: string,
  head: HeadState | undefined,
  from: number,
): KnownFrames | null => {
  // Rows may be behind what the writer has read; it reads what they lack when it loads the history.
  if (head?.state !== 'open' || head.next < from) return null;
  const found = view.range(FRAMES, { prefix: [history], from, to: head.next - 1 });
  return { offsets: found.map(({ value }) => value[0]), prev: head.prev };
};

const rowsOffset = (view: GenerationView, partition: number): number => {
  const cursor = view.cursor(partition);
  return cursor === null ? 0 : decodeCheckpoint(cursor).cursor.offset;
};

export const openHistoryRows = (projection: Projection, history: string): HistoryRows => ({
  isRemote: projection.isRemote === true,
  readFacts: (fn) => {
    const unchecked: UncheckedBranches = new Map();
    return projection.payloads.using(history, (stored) =>
      projection.read((view) => fn(historyFactsOf(view, history, stored, unchecked), stored)),
    );
  },
  withPayloads: (fn) => projection.payloads.using(history, fn),
  catchUp: () => projection.catchUp(partitionOf(history, projection.partitions)),
});

/** The most rows of ids and of commands that a session reads to decide without reading more. */
const MAX_LOOKUP_ROWS = 20_000;

/** Branches that were loaded, by position, and wait for payloads with which they are checked. */
type UncheckedBranches = Map<string, BranchState>;

const historyFactsOf = (
  view: GenerationView,
  history: string,
  stored: PayloadSource,
  unchecked: UncheckedBranches,
): HistoryFacts => ({
  head: () => readHistoryHead(view, history) ?? { next: 0, prev: ZERO_HASH },
  branchState(branchId, seq, limit) {
    const at = seq ?? Math.min(readTipSeq(view, history, branchId), limit - 1);
    const key = `${branchId} ${at}`;
    const branch = unchecked.get(key) ?? loadBranchFromRows(view, history, branchId, at);
    unchecked.delete(key);
    try {
      checkLoadedBranch(view, history, branch, stored);
    } catch (error) {
      if (isMissing(error)) unchecked.set(key, branch);
      throw error;
    }
    return branch;
  },
  loadTurns: (needs) => loadTurns(view, history, needs, stored),
  branchTip(branchId, limit) {
    const found = branchId < limit ? readBranchTip(view, history, branchId) : undefined;
    return found && { ...found, seq: Math.min(found.seq, limit - 1) };
  },
  findBranchByName: (name) => findBranchByName(view, history, name),
  idTaken: (id) => isIdTaken(view, history, id),
  nameTaken: (name) => findNamedPosition(view, history, name) !== undefined,
  remembered: (command) => findCommand(view, history, command),
  lookups: () => listLookups(view, history, MAX_LOOKUP_ROWS),
  cycleAt: (branchId, seq) => readPositionMeta(view, history, branchId, seq).meta.cycle,
});
