import { isStemmaError } from '@stemma/errors';
import { enteredIds, namedPosition, type Frame, type HistoryEvent } from '@stemma/events';
import { applyFrame, decide, openHistory, payloadIn, type Command, type Step } from '@stemma/history';
import { errorAt } from '../check-node.ts';

/** Runs commands on a history in memory, so that refusals are found before anything is recorded. */
export type DryRun = {
  /**
   * @param stepLabels the name of each step in an error.
   * @throws the errors of deciding the command, naming the step's place.
   */
  readonly run: (steps: readonly Step[], stepLabels: readonly string[]) => void;
};

export const newDryRun = (): DryRun => {
  const state = openHistory('dry-run', 0);
  const frames: (readonly HistoryEvent[])[] = [];
  const ids = new Set<string>();
  const names = new Set<string>();
  const sources = {
    payload: ({ seq, index }: { seq: number; index: number }) =>
      payloadIn(frames[seq]?.[index] as HistoryEvent),
    position: () => {
      throw new Error('a dry-run has one branch, and that is at hand');
    },
    lookups: {
      idTaken: (id: string) => ids.has(id),
      nameTaken: (name: string) => names.has(name),
      branchNamed: () => undefined,
      command: () => undefined,
    },
    branchTip: () => undefined,
  };
  const decided = (steps: readonly Step[]): readonly HistoryEvent[] => {
    const command: Command = {
      id: `dry-run:${frames.length}`,
      history: 'dry-run',
      branchId: 0,
      by: { recorder: 'dry-run' },
      steps: [...steps],
    };
    return decide(state, command, 0n, sources).events;
  };
  return {
    run: (steps, stepLabels) => {
      let events: readonly HistoryEvent[];
      try {
        events = decided(steps);
      } catch (error) {
        throw isStemmaError(error) ? errorAt(error, stepLabels[faultyStep(steps, decided)] ?? '') : error;
      }
      frames.push(events);
      for (const event of events) remember(event, ids, names);
      applyFrame(state, frameOf(frames.length - 1, events), sources);
    },
  };
};

/** The index of the first refused step, found by trying, since a command is decided as a whole. */
const faultyStep = (steps: readonly Step[], decided: (steps: readonly Step[]) => unknown): number => {
  for (let count = 1; count < steps.length; count++) {
    try {
      decided(steps.slice(0, count));
    } catch {
      return count - 1;
    }
  }
  return steps.length - 1;
};

const remember = (event: HistoryEvent, ids: Set<string>, names: Set<string>): void => {
  for (const id of enteredIds(event)) ids.add(id);
  const named = namedPosition(event);
  if (named !== null) names.add(named.name);
};

const frameOf = (seq: number, events: readonly HistoryEvent[]): Frame => ({
  envelope: { v: 1, history: 'dry-run', seq, prev: new Uint8Array(32) },
  body: {
    recorder: 'dry-run',
    command: `dry-run:${seq}`,
    digest: new Uint8Array(32),
    at: 0n,
    branchId: 0,
    events,
  },
});
