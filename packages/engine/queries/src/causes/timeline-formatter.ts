import type { HistoryEvent } from '@stemma/events';
import type { Cause } from '@stemma/history';
import type { Projection } from '@stemma/projector';
import { authorOf, findFrameSummary, type TimelineEntry } from '@stemma/read-models';
import { millisecondsOf } from '@stemma/values';
import type { TimelineEntryDescription } from './types.ts';

type FrameFacts = Pick<TimelineEntryDescription, 'command' | 'author' | 'at' | 'notes'>;

/**
 * A function that adds to a timeline entry who did it, when and by which command. Reads only frames of actors, once.
 */
export const openTimelineFormatter = (
  projection: Projection,
  history: string,
): ((entry: TimelineEntry) => Promise<TimelineEntryDescription>) => {
  const known = new Map<number, Promise<FrameFacts>>();
  const factsOf = async (seq: number): Promise<FrameFacts> => {
    const frameSummary = await projection.read((rows) => findFrameSummary(rows, history, seq));
    const { command } = frameSummary;
    const author = authorOf(frameSummary);
    const at = millisecondsOf(frameSummary.at);
    const notes = 'actor' in author ? notesIn(await projection.payloads.events(history, seq)) : null;
    return { command, author, at, notes };
  };
  return async ({ branchId, seq, index, cycle, until, cause }) => {
    const facts = known.get(seq) ?? factsOf(seq);
    known.set(seq, facts);
    const { command, author, at, notes } = await facts;
    const event = eventOf(cause);
    return { branchId, seq, index, event, cycle, until, cause, command, author, at, notes };
  };
};

/** The notes of an intervention; null if there are none or they are empty. */
const notesIn = (events: readonly HistoryEvent[]): string | null => {
  const event = events.find(({ type }) => type === 'InterventionRecorded');
  return event?.type === 'InterventionRecorded' && event.notes !== '' ? event.notes : null;
};

/** The type of the event that a cause is recorded as, known without reading the frame. */
const eventOf = (cause: Cause): HistoryEvent['type'] => {
  switch (cause.kind) {
    case 'mutation':
      return MUTATIONS[cause.op];
    case 'import':
      return 'NodeImported';
    case 'expiry':
      return 'NodeExpired';
    case 'cascade':
      return 'NodeCascaded';
    case 'pruning':
      return 'NodePruned';
    case 'ageing':
      return 'SnapshotCommitted';
    case 'sealing':
      return 'TurnSealed';
    case 'hold':
      return 'NodeHeld';
  }
};

const MUTATIONS = {
  start: 'HistoryStarted',
  insert: 'NodeInserted',
  replace: 'NodeReplaced',
  move: 'NodeMoved',
  carry: 'NodeMoved',
  remove: 'NodeRemoved',
  priority: 'PriorityChanged',
} as const;
