import { isStemmaError } from '@stemma/errors';
import { openDecodedFrames, type DecodedFrames, type EventLog } from '@stemma/log';
import { openLogOn } from '@stemma/log-embedded';
import { decodeCheckpoint, openProjector, type Projector } from '@stemma/projector';
import { openMemoryRowStore, type RowStore } from '@stemma/row-store';
import type { Process, Simulation } from './simulation.ts';

/** Errors that a client answers by sending the command again later. */
const PASSING = new Set([
  'E_OUTCOME_UNKNOWN',
  'E_IO',
  'E_LOG_BUSY',
  'E_BUSY',
  'E_CONFLICT',
  'E_LOG_CLOSED',
  'E_CURSOR_MOVED',
]);
/** Those that say that unsynced parts of a group were lost between others: see decision 0061. */
export const DAMAGE = new Set(['E_HISTORY_DAMAGED']);

/** A home as a process has it open. */
export type SimulatedHome = {
  readonly log: EventLog;
  readonly projector: Projector;
  readonly decoded: DecodedFrames;
};

/** Opens the log and the rows as a process of its own; tries again while the disk does not let it. */
export const openIn = async (simulation: Simulation, process: Process): Promise<SimulatedHome> => {
  const { conditions, ablation } = simulation;
  const turn = (): Promise<void> => simulation.turn(process);
  for (;;) {
    try {
      const raw = await openLogOn(simulation.machineOf(process), {
        directory: '/home/log',
        partitions: conditions.partitions,
        segmentBytes: conditions.segmentBytes,
        stepBytes: conditions.stepBytes,
        busyAfter: 20,
        pollEvery: 5,
        onFatal: () => {
          simulation.count('fatal syncs');
          simulation.end(process);
        },
      });
      const log: EventLog = {
        ...raw,
        append: async (partition, entries) => (await turn(), raw.append(partition, entries)),
        read: async (partition, from, options) => (await turn(), raw.read(partition, from, options)),
        end: async (partition) => (await turn(), raw.end(partition)),
      };
      const store = withTurns(
        openMemoryRowStore(simulation.rows),
        turn,
        ablation === 'expected cursor',
        (sentence) => void simulation.wrong.push(sentence),
      );
      const decoded = openDecodedFrames();
      const projector = openProjector({
        eager: 'all',
        log,
        contents: simulation.contents,
        store,
        decoded,
        now: () => simulation.now(),
        limits: { frames: 1 + simulation.dice.int(20) },
      });
      return { log, projector, decoded };
    } catch (error) {
      note(simulation, process, 'opening', error);
      await simulation.turn(process, 10);
    }
  }
};

const offsetOf = (cursor: Uint8Array): number => decodeCheckpoint(cursor).cursor.offset;

/** A store whose commits are turns of their own. */
const withTurns = (
  store: RowStore,
  turn: () => Promise<void>,
  blind: boolean,
  wrong: (sentence: string) => void,
): RowStore => ({
  ...store,
  generation: async (name, tables) => {
    const generation = await store.generation(name, tables);
    return {
      ...generation,
      read: async (fn) => (await turn(), generation.read(fn)),
      commit: async (batch) => {
        await turn();
        const before = await generation.read((view) => view.cursor(batch.partition));
        const expected = blind ? before : batch.expected;
        await generation.commit({ ...batch, expected });
        if (before !== null && offsetOf(batch.cursor) < offsetOf(before)) wrong('rows went back');
      },
    };
  },
  promote: async (promotion) => (await turn(), store.promote(promotion)),
});

/** Counts an error, and holds those without a code, or with one that cannot be, against the rules. */
export const note = (simulation: Simulation, process: Process, doing: string, error: unknown): void => {
  // It was killed: nobody hears of it.
  if (!process.alive) return;
  const code = isStemmaError(error) ? error.code : undefined;
  simulation.count(code ?? 'no code');
  if (code === undefined) simulation.wrong.push(`${doing}: an error without a code: ${String(error)}`);
  else if (!PASSING.has(code) && !DAMAGE.has(code) && code !== 'E_PARTITION_CLOSED')
    simulation.wrong.push(`${doing}: ${code}: ${String(error)}`);
};
