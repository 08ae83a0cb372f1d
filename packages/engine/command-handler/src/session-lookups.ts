import type { PayloadSource } from '@stemma/context-tree';
import type { KeptFrame, Lookups } from '@stemma/history';
import type { HistoryFacts, HistoryRows } from './history-rows.ts';
import { NO_LOOKUPS, openLookupsInMemory, type LookupsInMemory } from './lookups-in-memory.ts';
import type { RecentFrames } from './recent-frames.ts';

/** After as many ids that it looked up in rows of this machine, a session reads all of them at once. */
const MANY_LOOKED_UP = 1_000;
/** The most bytes of lookups that a session keeps; of more, rows are read at each decision. */
const MAX_IN_MEMORY = 4_000_000;

/** What decisions of a session look up: in recent frames, and before those in memory or in rows. */
export class SessionLookups {
  readonly #rows: HistoryRows;
  readonly #recent: RecentFrames;
  /** Present if decisions read no rows: for a history that began in this session, and once reading all pays. */
  #inMemory: LookupsInMemory | undefined;
  #mayRead = true;
  /** How many ids this session looked up in the rows. */
  #lookedUp = 0;

  constructor(rows: HistoryRows, recent: RecentFrames, isNew: boolean) {
    this.#rows = rows;
    this.#recent = recent;
    if (isNew) this.#inMemory = openLookupsInMemory(NO_LOOKUPS);
  }

  /** Bytes in memory. */
  get bytes(): number {
    return this.#inMemory?.bytes ?? 0;
  }

  /** Calls `fn` with the lookups of the frames before the recent ones, and payloads. */
  async withOlder<T>(fn: (older: Lookups, stored: PayloadSource) => T): Promise<T> {
    const rows = this.#rows;
    if (
      this.#inMemory === undefined &&
      this.#mayRead &&
      (rows.isRemote || this.#lookedUp >= MANY_LOOKED_UP)
    ) {
      // The rows have every frame before the recent ones, and perhaps some of these.
      const found = await rows.readFacts((facts) => facts.lookups());
      this.#mayRead = found !== undefined;
      if (found !== undefined) this.#inMemory = openLookupsInMemory(found);
    }
    const known = this.#inMemory;
    return known === undefined
      ? rows.readFacts((facts, stored) => fn(this.#inRows(facts), stored))
      : rows.withPayloads((stored) => fn(known, stored));
  }

  /** Those of the recent frames, and before them the older ones. */
  over(older: Lookups): Lookups {
    const recent = this.#recent;
    return {
      idTaken: (id) => recent.ids.has(id) || older.idTaken(id),
      branchNamed: (name) =>
        recent.branchesByName.has(name) ? recent.branchesByName.get(name) : older.branchNamed(name),
      nameTaken: (name) => recent.names.has(name) || older.nameTaken(name),
      command: (id) => recent.commands.get(id) ?? older.command(id),
    };
  }

  /** These frames are recent no longer. */
  add(frames: readonly KeptFrame[]): void {
    if (this.#inMemory !== undefined) for (const frame of frames) this.#inMemory.add(frame);
    if (this.bytes <= MAX_IN_MEMORY) return;
    this.#inMemory = undefined;
    this.#mayRead = false;
  }

  #inRows(facts: HistoryFacts): Lookups {
    return {
      idTaken: (id) => {
        this.#lookedUp += 1;
        return facts.idTaken(id);
      },
      branchNamed: (name) => facts.findBranchByName(name),
      nameTaken: (name) => facts.nameTaken(name),
      command: (id) => facts.remembered(id),
    };
  }
}
