import { loadLineage, type Command } from '@stemma/history';
import {
  partitionOf,
  standingAtStart,
  ZERO_HASH,
  type Domain,
  type EventLog,
  type HeadState,
} from '@stemma/log';
import { readFence, standingOf, type Projector } from '@stemma/projector';
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
import { openSession, type HistoryRows } from './session.ts';

/** What the writer decides on: the rows of a projector, and the rules of histories. */
export const rowsDomain = (log: EventLog, projector: Projector, clock: () => bigint): Domain<Command> => ({
  standing: async (partition) => projector.standing(partition) ?? (await standingAtStart(log, partition)),
  heads: (partition, histories) =>
    projector.read((view) => {
      const heads = new Map<string, HeadState>();
      for (const history of histories) {
        const head = readFence(view, history);
        if (head !== undefined) heads.set(history, head);
      }
      return { asOf: offsetIn(view, partition), heads };
    }),
  load: (history) =>
    projector.read((view) => {
      const head = readFence(view, history);
      return openSession({
        history,
        next: head?.next ?? 0,
        prev: head?.prev ?? ZERO_HASH,
        asOf: offsetIn(view, partitionOf(history, log.partitions)),
        rows: historyRows(projector, history),
        clock,
      });
    }),
});

const offsetIn = (view: GenerationView, partition: number): number => {
  const cursor = view.cursor(partition);
  return cursor === null ? 0 : standingOf(cursor).cursor.offset;
};

const historyRows = (projector: Projector, history: string): HistoryRows => ({
  next: () => projector.read((view) => readFence(view, history)?.next ?? 0),
  lineage: (strand, seq, limit) =>
    projector.read((view) => {
      const at = seq ?? Math.min(readHead(view, history, strand), limit - 1);
      return loadLineage(readLineage(view, history, strand, at));
    }),
  standing: (strand, limit) =>
    projector.read((view) => {
      const found = strand < limit ? readStanding(view, history, strand) : undefined;
      return found && { ...found, seq: Math.min(found.seq, limit - 1) };
    }),
  lineageNamed: (name) => projector.read((view) => lineageNamed(view, history, name)),
  idTaken: (id) => projector.read((view) => isIdTaken(view, history, id)),
  nameTaken: (name) => projector.read((view) => namedPosition(view, history, name) !== undefined),
  remembered: (command) => projector.read((view) => rememberedCommand(view, history, command)),
  withPayloads: (fn) => projector.payloads.using(history, fn),
  catchUp: () => projector.catchUp(),
});
