import { compareCodePoints } from '@stemma/canonical';
import type { MemoryContents } from '@stemma/contents';
import type { EventLog } from '@stemma/log';
import { decodeCheckpoint } from '@stemma/projector';
import type { RowStore } from '@stemma/row-store';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { SentCommand } from './clients.ts';
import { copyLooks, copyRows, killedWriting, loseOthers, transactionOf, unsynced } from './crash-rows.ts';
import { Killed, type Dice } from './power.ts';
import { watchFiles } from './watched-files.ts';

/** Which safeguard is left out: each must make a run fail. */
export type RowsAblation = 'rows sync' | 'rows state';
export const ROWS_ABLATIONS: readonly RowsAblation[] = ['rows sync', 'rows state'];

/** What of one environment the disk has, and what only the page cache. */
type OnDisk = {
  /** The file of the rows when it was synced last; undefined: never. */
  rows: Buffer | undefined;
  /** Later versions of it, the newest ones. */
  versions: readonly Buffer[];
  /** The file `state` when its folder was synced last. */
  state: Buffer | undefined;
};

/** What the process before has left. */
export type Left = {
  readonly rows: string;
  /** What rows of which offsets may be found, as texts; undefined: any that the log has. */
  readonly cursors: ReadonlySet<string> | undefined;
  /** By the folder of the environment. */
  readonly disk: ReadonlyMap<string, OnDisk>;
};

/** One run: the rows of a log in real files, written by one process after the other, each of which ends or crashes. */
export type RowsRun = {
  readonly dice: Dice;
  readonly ablation: RowsAblation | undefined;
  readonly folder: string;
  readonly log: EventLog;
  readonly contents: MemoryContents;
  readonly sent: readonly SentCommand[];
  readonly count: (what: string) => void;
  readonly wrong: (sentence: string) => void;
  clock: number;
  boot: number;
  lives: number;
  steps: number;
};

export const NO_ROWS = '';
const VERSIONS = 4;

/** What of the rows there is, and up to where: equal texts, equal rows. */
export const cursorsText = async (store: RowStore): Promise<string> => {
  const found: string[] = [];
  for (const name of await store.generations())
    for (const [partition, cursor] of await store.cursors(name))
      found.push(`${name} ${partition}@${decodeCheckpoint(cursor).cursor.offset}`);
  return found.sort(compareCodePoints).join();
};

/**
 * One process that has the rows open, from its start to its end or its crash: what it has written, what of that the disk has, and,
 * once it has crashed, what it has left.
 */
export class Life {
  readonly #run: RowsRun;
  /** The folder of the rows. */
  readonly #rows: string;
  /** The folder that rows are copied to when it crashes. */
  readonly #next: string;
  readonly #disk: Map<string, OnDisk>;
  readonly #unwatch: () => void;
  #callsLeft: number;
  #writesLeft: number;
  #left: Left | undefined;
  #cursors: ReadonlySet<string> | undefined;

  /** @param ends after so many changes of files by `node:fs`, or so many writes of LMDB, it crashes */
  constructor(run: RowsRun, before: Left, ends: { readonly calls: number; readonly writes: number }) {
    this.#run = run;
    this.#rows = before.rows;
    this.#next = join(run.folder, `rows-${run.lives + 1}`);
    this.#disk = new Map([...before.disk].map(([name, each]) => [name, { ...each }] as const));
    this.#callsLeft = ends.calls;
    this.#writesLeft = ends.writes;
    this.#unwatch = watchFiles(
      before.rows,
      () => this.#step(),
      (path) => this.#synced(path),
    );
  }

  /** What it left when it crashed; undefined: it has not. */
  left(): Left | undefined {
    return this.#left;
  }

  /** What it leaves if nothing happens any more. */
  asItIs(): Left {
    return { rows: this.#rows, cursors: this.#cursors, disk: this.#disk };
  }

  /** Notes which cursors were found when the rows were opened. */
  opened(cursors: string): void {
    this.#cursors = new Set([cursors]);
  }

  end(): void {
    this.#unwatch();
  }

  /** The same store, whose writes are steps. */
  counted(store: RowStore): RowStore {
    return {
      ...store,
      generation: async (name, tables) => {
        const generation = await store.generation(name, tables);
        return { ...generation, commit: (batch) => this.#write(store, () => generation.commit(batch)) };
      },
      promote: (promotion) => this.#write(store, () => store.promote(promotion)),
      drop: (name) => this.#write(store, () => store.drop(name)),
      discard: async (generation) => {
        // Until it is done anything may be found, and then nothing.
        this.#cursors = undefined;
        const done = await store.discard(generation);
        this.#cursors = new Set([await cursorsText(store)]);
        return done;
      },
    };
  }

  losePower(): void {
    const run = this.#run;
    const [rows, next] = [this.#rows, this.#next];
    const name = this.#current();
    copyRows(rows, next);
    run.boot++;
    run.count('rows without power');
    this.#left = { rows: next, cursors: undefined, disk: new Map() };
    const file = this.#bytesIn(name, 'rows.mdb');
    if (name === undefined || file === undefined) return;
    const losesOthers = run.dice.chance(0.5);
    if (losesOthers) loseOthers(next, run.dice);
    const known = this.#onDisk(name);
    const kept = unsynced(known.rows, isSame(known.rows, file) ? [] : [...known.versions, file], run.dice);
    writeFileSync(join(next, name, 'rows.mdb'), kept);
    const state = run.dice.chance(0.5) ? known.state : this.#bytesIn(name, 'state');
    if (state === undefined) rmSync(join(next, name, 'state'), { force: true });
    else writeFileSync(join(next, name, 'state'), state);
    if (!losesOthers) copyLooks(join(rows, name), join(next, name));
    const word = state?.toString().split(' ')[0];
    // What was closed before the power went is there; what was not is thrown away, whatever it looks like.
    const isUnsynced = word === 'written' || known.versions.length > 0;
    const isKept = word === 'clean' && !losesOthers;
    const clean = isKept ? this.#cursors : undefined;
    this.#left = {
      rows: next,
      cursors: isUnsynced ? new Set([NO_ROWS]) : clean,
      disk: new Map([[name, { rows: kept, versions: [], state }]]),
    };
  }

  #kill(mixed: Buffer | undefined): void {
    const [rows, next] = [this.#rows, this.#next];
    const name = this.#current();
    copyRows(rows, next);
    if (mixed !== undefined && name !== undefined) writeFileSync(join(next, name, 'rows.mdb'), mixed);
    if (name !== undefined) copyLooks(join(rows, name), join(next, name));
    this.#run.count(mixed === undefined ? 'rows killed between writes' : 'rows killed in a write');
    this.#left = { rows: next, cursors: this.#cursors, disk: this.#disk };
  }

  #crash(mixed?: Buffer): never {
    if (this.#run.dice.chance(0.5)) this.losePower();
    else this.#kill(mixed);
    throw new Killed('killed');
  }

  #step(): void {
    this.#run.steps++;
    if (this.#left === undefined && --this.#callsLeft === 0) this.#crash();
  }

  /** Notes what the disk has of a file or folder that is synced. */
  #synced(path: string): void {
    if (this.#left !== undefined) return;
    const { ablation } = this.#run;
    const name = basename(dirname(path));
    if (basename(path) === 'rows.mdb' && ablation !== 'rows sync')
      Object.assign(this.#onDisk(name), { rows: readFileSync(path), versions: [] });
    else if (statSync(path).isDirectory() && ablation !== 'rows state')
      this.#onDisk(basename(path)).state = this.#bytesIn(basename(path), 'state');
  }

  /** A write of LMDB. A process killed in the middle of it leaves what was there before, or what is there after. */
  async #write<T>(store: RowStore, write: () => Promise<T>): Promise<T> {
    if (this.#left !== undefined) throw new Killed('killed');
    this.#run.steps++;
    const [name, was] = [this.#current(), await cursorsText(store)];
    const old = this.#bytesIn(name, 'rows.mdb');
    this.#cursors = new Set([was]);
    const answer = await write();
    const is = await cursorsText(store);
    const written = this.#bytesIn(name, 'rows.mdb');
    if (name !== undefined && written !== undefined) {
      const known = this.#onDisk(name);
      known.versions = [...known.versions, written].slice(-VERSIONS);
    }
    this.#cursors = new Set([is]);
    if (!this.#hasCrashed() && --this.#writesLeft === 0) {
      // Between two transactions others are in the middle of things as well.
      const isOne = old && written && transactionOf(written) === transactionOf(old) + 1;
      if (isOne) this.#cursors = new Set([was, is]);
      this.#crash(isOne ? killedWriting(old, written, this.#run.dice) : undefined);
    }
    return answer;
  }

  /** It may have crashed while something was awaited. */
  #hasCrashed(): boolean {
    return this.#left !== undefined;
  }

  #onDisk(name: string): OnDisk {
    const found = this.#disk.get(name) ?? { rows: undefined, versions: [], state: undefined };
    this.#disk.set(name, found);
    return found;
  }

  /** The folder of the environment that counts. */
  #current(): string | undefined {
    const names = existsSync(this.#rows) ? readdirSync(this.#rows).filter((name) => /^\d+$/.test(name)) : [];
    return names.length === 0 ? undefined : String(Math.max(...names.map(Number)));
  }

  #bytesIn(name: string | undefined, file: string): Buffer | undefined {
    const path = join(this.#rows, name ?? '', file);
    return name !== undefined && existsSync(path) ? readFileSync(path) : undefined;
  }
}

const isSame = (a: Buffer | undefined, b: Buffer): boolean => a?.equals(b) === true;
