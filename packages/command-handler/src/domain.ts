import { loadLineage, type Command } from '@stemma/history';
import { headsOf, isIdTaken, lineageNamed, mainStrand, namedPosition, nearestMark, readFence, readHead, readLineage, readStanding, rememberedCommand } from '@stemma/history-store';
import { checkpointAtStart, partitionOf, ZERO_HASH, type Domain, type EventLog } from '@stemma/log';
import { checkpointOf, type ServedRows } from '@stemma/projector';
import type { GenerationView } from '@stemma/row-store';
import { openSession, type HistoryFacts, type HistoryRows, type SessionStart } from './session.ts';

/** What the writer decides on: the rows of a projector, and the rules of histories. @param placed as `SessionStart.placed` */
export const rowsDomain = (
  log: EventLog,
  projector: ServedRows,
  clock: () => bigint,
  placed: SessionStart['placed'],
): Domain<Command> => ({
  checkpoint: async (partition) =>
    (await projector.checkpoint(partition)) ?? checkpointAtStart(log, partition),
  heads: (partition, histories) =>
    projector.read((view) => ({ asOf: offsetIn(view, partition), heads: headsOf(view, histories) })),
  load: async (history) => {
    const partition = partitionOf(history, log.partitions);
    const { asOf, head, main } = await projector.read((view) => ({
      asOf: offsetIn(view, partition),
      head: readFence(view, history),
      main: mainStrand(view, history),
    }));
    const rows = historyRows(projector, history);
    const { next = 0, prev = ZERO_HASH } = head ?? {};
    return openSession({ history, next, prev, asOf, rows, main, clock, placed });
  },
});

const offsetIn = (view: GenerationView, partition: number): number => {
  const cursor = view.cursor(partition);
  return cursor === null ? 0 : checkpointOf(cursor).cursor.offset;
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
  cycleAt: (strand, seq) => nearestMark(view, history, strand, seq).mark.cycle,
});
