import { platform } from '#call-platform';
import { openMemorySpool } from '../spool/memory-spool.ts';
import type { Spool, WaitingExchange } from '../spool/spool.ts';
import type { CallReports } from './call-reports.ts';

const MIB = 1024 * 1024;
/** The most bytes that wait in memory where the disk takes none. */
const MEMORY = 32 * MIB;

/** Keeps calls until they are recorded: on the disk, or in memory if that takes none. */
export class KeptCalls {
  readonly #memory: Spool;
  readonly #spool: Spool;
  readonly #reports: CallReports;

  /** @param folder the folder of all spools of the target; undefined: there is none @param limit the most bytes that wait */
  constructor(folder: () => string | undefined, limit: number, reports: CallReports) {
    this.#reports = reports;
    this.#memory = openMemorySpool(Math.min(limit, MEMORY));
    this.#spool = this.#openSpool(folder, limit);
  }

  get directory(): string | null {
    return this.#spool.directory;
  }

  /** Notes that a call began. */
  begin(id: string, json: string): void {
    try {
      this.#spool.begin(id, json);
    } catch (error) {
      this.#reports.inMemory(error);
    }
  }

  /** @returns undefined if there is no room */
  keep(id: string, json: string): WaitingExchange | undefined {
    try {
      return this.#spool.keep(id, json);
    } catch (error) {
      this.#reports.inMemory(error);
      return this.#memory.keep(id, json);
    }
  }

  /** What processes left that have ended. */
  takeOver(): readonly WaitingExchange[] {
    try {
      return this.#spool.takeOver();
    } catch (error) {
      this.#reports.notTakenOver(error);
      return [];
    }
  }

  close(): void {
    try {
      this.#spool.close();
    } catch {
      // What is in it is sent by the next process all the same.
    }
  }

  #openSpool(folder: () => string | undefined, limit: number): Spool {
    try {
      const directory = folder();
      if (directory === undefined) return this.#memory;
      const damaged = (file: string): void => this.#reports.damagedFile(file);
      return platform.openSpool({ directory, limit, damaged });
    } catch (error) {
      this.#reports.inMemory(error);
      return this.#memory;
    }
  }
}
