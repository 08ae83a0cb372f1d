import { loadLineage, type Command } from '@stemma/history';
import { partitionOf, standingAtStart, ZERO_HASH, type Domain, type EventLog } from '@stemma/log';
import { headsOf, readFence, standingOf, type ServedRows } from '@stemma/projector';
import {
  isIdTaken,
  lineageNamed,
  namedPosition,
  readHead,
  readLineage,
  readStanding,
  rememberedCommand,
} from '@stemma/read-models';
import type { GenerationView } from '@stemma/row-store';
import { openSession, type HistoryFacts, type HistoryRows } from './session.ts';

/** What the writer decides on: the rows of a projector, and the rules of histories. */
export const rowsDomain = (log: EventLog, projector: ServedRows, clock: () => bigint): Domain<Command> => ({
  standing: async (partition) => (await projector.standing(partition)) ?? standingAtStart(log, partition),
  heads: (partition, histories) =>
    projector.read((view) => ({ asOf: offsetIn(view, partition), heads: headsOf(view, histories) })),
  load: async (history) => {
    const partition = partitionOf(history, log.partitions);
    const { asOf, head } = await projector.read((view) => ({
      asOf: offsetIn(view, partition),
      head: readFence(view, history),
    }));
    const rows = historyRows(projector, history);
    return openSession({ history, next: head?.next ?? 0, prev: head?.prev ?? ZERO_HASH, asOf, rows, clock });
  },
});

const offsetIn = (view: GenerationView, partition: number): number => {
  const cursor = view.cursor(partition);
  return cursor === null ? 0 : standingOf(cursor).cursor.offset;
};

const historyRows = (projector: ServedRows, history: string): HistoryRows => ({
  ask: (fn) =>
    projector.payloads.using(history, (stored) =>
      projector.read((view) => fn(factsOf(view, history), stored)),
    ),
  withPayloads: (fn) => projector.payloads.using(history, fn),
  catchUp: () => projector.catchUp(),
});

const factsOf = (view: GenerationView, history: string): HistoryFacts => ({
  head: () => readFence(view, history) ?? { next: 0, prev: ZERO_HASH },
  lineage(strand, seq, limit) {
    const at = seq ?? Math.min(readHead(view, history, strand), limit - 1);
    return loadLineage(readLineage(view, history, strand, at));
  },
  standing(strand, limit) {
    const found = strand < limit ? readStanding(view, history, strand) : undefined;
    return found && { ...found, seq: Math.min(found.seq, limit - 1) };
  },
  lineageNamed: (name) => lineageNamed(view, history, name),
  idTaken: (id) => isIdTaken(view, history, id),
  nameTaken: (name) => namedPosition(view, history, name) !== undefined,
  remembered: (command) => rememberedCommand(view, history, command),
});
