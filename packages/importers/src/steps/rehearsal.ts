import { isStemmaError } from '@stemma/errors';
import { enteredIds, namedPosition, type Frame, type HistoryEvent } from '@stemma/events';
import { applyFrame, decide, openHistory, payloadIn, type Command, type Step } from '@stemma/history';
import { at } from '../check-node.ts';

/** Tries commands out on a history in memory, so that what would be refused is refused before anything is recorded. */
export type Rehearsal = {
  /**
   * @param places what to call each step in an error.
   * @throws what deciding the command would throw, naming the place of the step.
   */
  readonly run: (steps: readonly Step[], places: readonly string[]) => void;
};

export const newRehearsal = (): Rehearsal => {
  const state = openHistory('rehearsal', 0);
  const frames: (readonly HistoryEvent[])[] = [];
  const ids = new Set<string>();
  const names = new Set<string>();
  const sources = {
    payload: ({ seq, index }: { seq: number; index: number }) =>
      payloadIn(frames[seq]?.[index] as HistoryEvent),
    position: () => {
      throw new Error('a rehearsal has one lineage, and that is at hand');
    },
    lookups: {
      idTaken: (id: string) => ids.has(id),
      nameTaken: (name: string) => names.has(name),
      lineageNamed: () => undefined,
      command: () => undefined,
    },
    lineage: () => undefined,
  };
  const decided = (steps: readonly Step[]): readonly HistoryEvent[] => {
    const command: Command = {
      id: `rehearsal:${frames.length}`,
      history: 'rehearsal',
      lineage: 0,
      by: { recorder: 'rehearsal' },
      steps: [...steps],
    };
    return decide(state, command, 0n, sources).events;
  };
  return {
    run: (steps, places) => {
      let events: readonly HistoryEvent[];
      try {
        events = decided(steps);
      } catch (error) {
        throw isStemmaError(error) ? at(error, places[faultyStep(steps, decided)] ?? '') : error;
      }
      frames.push(events);
      for (const event of events) remember(event, ids, names);
      applyFrame(state, frameOf(frames.length - 1, events), sources);
    },
  };
};

/** The first step that is refused; found again by trying, since a command is decided as a whole. */
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
  envelope: { v: 1, history: 'rehearsal', seq, prev: new Uint8Array(32) },
  body: {
    recorder: 'rehearsal',
    command: `rehearsal:${seq}`,
    digest: new Uint8Array(32),
    at: 0n,
    lineage: 0,
    events,
  },
});
