import { UNLOADED, withIds } from '@stemma/context-tree';
import type { HistoryEvent } from '@stemma/events';
import { decideNew, openHistory, type BranchState, type Command } from '@stemma/history';
import type { Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import type { Redactor } from '@stemma/redaction';
import { fetching, resume } from '@stemma/suspend';
import { openHistoryRows } from './decision-sources.ts';
import { idsOf, namesOf } from './recent-frames.ts';

/** What somebody would record in forks that are not there yet: in each the same. */
export type ForkSteps = Pick<Command, 'by' | 'notes' | 'steps'> & {
  /** Default 1. */
  readonly forks?: number;
};

/**
 * Decides steps as they would be decided in forks at a position, and records nothing: what cannot be done in them is known before
 * there is one. Ids and names belong to one of them.
 *
 * @throws coded errors of the decision
 */
export const tryInFork = async (
  projection: Projection,
  position: Position,
  { by, notes, steps, forks = 1 }: ForkSteps,
  now: bigint,
  redactor?: Redactor,
): Promise<void> => {
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
  let events: readonly HistoryEvent[] = [];
  // A third fork would be refused what the second one is.
  for (let fork = 0; fork < Math.min(forks, 2); fork++) {
    const [ids, names] = [new Set(idsOf(events)), new Set(namesOf(events))];
    // It is kept while the decision is tried again: nodes are loaded into its tree.
    let forked: BranchState | undefined;
    events = await resume(
      () =>
        rows.readFacts((facts, payload) => {
          const parent = { branchId: position.branchId, at: position.seq };
          forked ??= {
            ...facts.branchState(position.branchId, position.seq, next),
            ...{ branchId: next, parent, name: null, seq: next },
          };
          const state = openHistory(position.history, next + 1);
          state.loadedBranches.set(next, forked);
          return decideNew(state, command, now, {
            payload,
            position: (branchId, seq) => facts.branchState(branchId, seq, next),
            branchTip: (branchId) => facts.branchTip(branchId, next),
            lookups: {
              idTaken: (id) => ids.has(id) || facts.idTaken(id),
              branchNamed: (name) => facts.findBranchByName(name),
              nameTaken: (name) => names.has(name) || facts.nameTaken(name),
              command: (id) => facts.remembered(id),
            },
          }).events;
        }),
      fetching(UNLOADED, (needs) => rows.readFacts((facts) => facts.loadTurns(withIds(needs, [])))),
    );
  }
};
