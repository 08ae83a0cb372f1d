import {
  bytesAfter,
  flattenTree,
  partialThread,
  threadBytes,
  threadDifference,
  type ThreadDifference,
  type ThreadSpan,
  UNLOADED,
  withIds,
  type FlatTree,
  type PayloadSource,
} from '@stemma/context-tree';
import { enteredIdsIn, positionNamesIn, type Frame, type HistoryEvent } from '@stemma/events';
import {
  applyFrame,
  decideNew,
  openHistory,
  payloadIn,
  type BranchState,
  type Command,
  type HistoryState,
  type Sources,
} from '@stemma/history';
import type { Position } from '@stemma/history-store';
import { ZERO_HASH } from '@stemma/log';
import type { Projection } from '@stemma/projector';
import { readThreadLength } from '@stemma/read-models';
import type { Redactor } from '@stemma/redaction';
import { collect, fetching, resume } from '@stemma/suspend';
import { openHistoryRows } from './decision-sources.ts';
import type { HistoryFacts } from './history-rows.ts';

/** What somebody would record in forks that are not there yet: in each the same. */
export type ForkSteps = Pick<Command, 'by' | 'notes' | 'steps'> & {
  /** Default 1. */
  readonly forks?: number;
};

/** What was tried in a fork. */
export type TriedFork = {
  /** The bytes of the provider thread that it would show then (context-tree §4). */
  thread(): Promise<string>;
  /**
   * What it would show then beside what the position shows, and the bytes of both threads: read without the turns that nothing
   * changes. Undefined: only the whole threads say it.
   */
  difference(): Promise<
    (ThreadDifference & { readonly bytesBefore: number; readonly bytesAfter: number }) | undefined
  >;
};

/**
 * Decides steps as they would be decided in forks at a position, and records nothing: what cannot be done in them is known before
 * there is one. Ids and names belong to one of them.
 *
 * @returns the first of them
 * @throws coded errors of the decision
 */
export const tryInFork = async (
  projection: Projection,
  position: Position,
  { forks = 1, ...given }: ForkSteps,
  now: bigint,
  redactor?: Redactor,
): Promise<TriedFork> => {
  const trial = await openTrial(projection, position, given, now, redactor);
  const first = await trial.decide([]);
  // A third fork would be refused what the second one is.
  if (forks > 1) await trial.decide(first.events);
  return {
    thread: () => trial.show(first),
    difference: async () => {
      const { history, branchId, seq } = position;
      const found = await trial.difference(first);
      if (found === undefined) return undefined;
      const bytesBefore = await projection.read((rows) => readThreadLength(rows, history, branchId, seq));
      return bytesBefore === undefined
        ? undefined
        : { ...found, bytesBefore, bytesAfter: bytesAfter(found, bytesBefore) };
    },
  };
};

/** A fork in memory, and what was decided in it. */
type Decision = {
  readonly fork: BranchState;
  readonly state: HistoryState;
  readonly events: readonly HistoryEvent[];
};

const openTrial = async (
  projection: Projection,
  position: Position,
  { by, notes, steps }: ForkSteps,
  now: bigint,
  redactor: Redactor | undefined,
) => {
  const rows = openHistoryRows(projection, position.history);
  const next = await rows.readFacts((facts) => facts.head().next);
  const because = notes === undefined ? {} : { notes };
  const given: Command = {
    id: 'none',
    history: position.history,
    branchId: next,
    by,
    ...because,
    steps: [...steps],
  };
  const command = redactor === undefined ? given : await redactor.command(given);
  const sourcesOf = (facts: HistoryFacts, payload: Sources['payload']): Sources => ({
    payload,
    position: (branchId, seq) => facts.branchState(branchId, seq, next),
    branchTip: (branchId) => facts.branchTip(branchId, next),
  });
  const reading = <T>(fn: (facts: HistoryFacts, payload: Sources['payload']) => T): Promise<T> =>
    resume(
      () => rows.readFacts(fn),
      fetching(UNLOADED, (needs) => rows.readFacts((facts) => facts.loadTurns(withIds(needs, [])))),
    );
  const spansBefore = new Map<Decision, readonly ThreadSpan[]>();
  /** What `fn` reads of a fork to which what was decided in it was applied once; `before`: its thread until then. */
  const applied = <T>(
    decision: Decision,
    fn: (payloadOf: PayloadSource, before: readonly ThreadSpan[]) => T,
  ): Promise<T> => {
    const { fork, state, events } = decision;
    const seq = next + 1;
    const frame: Frame = {
      envelope: { v: 1, history: position.history, seq, prev: ZERO_HASH },
      body: { ...by, command: command.id, digest: ZERO_HASH, at: now, branchId: next, events },
    };
    return reading((facts, payload) => {
      let before = spansBefore.get(decision);
      if (before === undefined) {
        before = fork.thread === 'full' ? spansOf(fork, payload) : [];
        // What is missing throws, and then this begins again: so all that is missing is named at once.
        if (events.length > 0) applyFrame(state, frame, sourcesOf(facts, payload));
        spansBefore.set(decision, before);
      }
      const payloadOf: PayloadSource = (ref) => {
        const own = ref.seq === seq ? events[ref.index] : undefined;
        return own === undefined ? payload(ref) : payloadIn(own);
      };
      return fn(payloadOf, before);
    });
  };
  return {
    /** @param taken what is recorded beside it, with ids and names that it may not have */
    decide: async (taken: readonly HistoryEvent[]): Promise<Decision> => {
      const [ids, names] = [new Set(enteredIdsIn(taken)), new Set(positionNamesIn(taken))];
      // It is kept while the decision is tried again: nodes are loaded into its tree.
      let kept: BranchState | undefined;
      return reading((facts, payload) => {
        const parent = { branchId: position.branchId, at: position.seq };
        const fork = (kept ??= {
          ...facts.branchState(position.branchId, position.seq, next),
          ...{ branchId: next, parent, name: null, seq: next },
        });
        const state = openHistory(position.history, next + 1);
        state.loadedBranches.set(next, fork);
        const { events } = decideNew(state, command, now, {
          ...sourcesOf(facts, payload),
          lookups: {
            idTaken: (id) => ids.has(id) || facts.idTaken(id),
            branchNamed: (name) => facts.findBranchByName(name),
            nameTaken: (name) => names.has(name) || facts.nameTaken(name),
            command: (id) => facts.remembered(id),
          },
        });
        return { fork, state, events };
      });
    },
    /** The thread of a fork with what was decided in it. */
    show: (decision: Decision): Promise<string> => {
      let flat: FlatTree | undefined;
      return applied(decision, (payloadOf) => {
        const { tree, thread } = decision.fork;
        tree.requireWhole();
        const shown = (flat ??= flattenTree(tree));
        return collect((attempt) => threadBytes(shown, (ref) => attempt(payloadOf, ref, {}), thread));
      });
    },
    /** What differs between the threads of a fork without and with what was decided in it. */
    difference: async (decision: Decision): Promise<ThreadDifference | undefined> => {
      if (decision.fork.thread !== 'full') return undefined;
      return applied(decision, (payloadOf, before) =>
        threadDifference(before, spansOf(decision.fork, payloadOf)),
      );
    },
  };
};

const spansOf = ({ tree }: BranchState, source: PayloadSource): readonly ThreadSpan[] =>
  collect((attempt) => partialThread(tree, source, attempt));
