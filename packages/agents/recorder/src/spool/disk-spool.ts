import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { readRegularFile, replaceFileSync } from '@stemma/machine';
import { join } from 'node:path';
import { decodeExchangeFile, encodeExchangeFile } from './exchange-file.ts';
import { isAbandoned, nobodysName, ownName } from './owner.ts';
import { sizeOf, SpoolRoom } from './spool-room.ts';
import type { Spool, SpoolOptions, WaitingExchange } from './spool.ts';

/** The name of a file: when it was written, a number, and the id of the exchange. */
const NAME = /^\d+-\d+-(.+?)\.(?:open|exchange)(?:\.refused)?$/;

/** No exchange has more bytes. */
const MOST = 2 ** 30;

/**
 * Opens a spool in a folder. An exchange is a file that is written whole, under another name first, so it survives the end of the
 * process at any moment; a loss of power may take the last ones.
 *
 * @throws if the folder cannot be written
 */
export const openDiskSpool = (options: SpoolOptions): Spool => new DiskSpool(options);

class DiskSpool implements Spool {
  readonly directory: string;
  /** The folder of all spools of the target. */
  readonly #folder: string;
  readonly #name = ownName();
  readonly #room: SpoolRoom;
  readonly #damaged: SpoolOptions['damaged'];
  /** The files of calls that began and have not ended. */
  readonly #open = new Map<string, { readonly path: string; readonly size: number }>();
  #written = 0;
  #taken = 0;

  constructor({ directory, limit, damaged }: SpoolOptions) {
    this.#folder = directory;
    this.#damaged = damaged;
    this.#room = new SpoolRoom(limit, () =>
      readdirSync(directory)
        .filter((folder) => !this.#isOwn(folder))
        .map((folder) => join(directory, folder)),
    );
    this.directory = join(directory, this.#name);
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
  }

  begin(id: string, json: string): void {
    const file = encodeExchangeFile(json);
    if (!this.#room.makeFor(file.length)) return;
    const path = `${this.#newPath(id)}.open`;
    this.#write(path, file);
    this.#open.set(id, { path, size: file.length });
  }

  keep(id: string, json: string): WaitingExchange | undefined {
    const file = encodeExchangeFile(json);
    const begun = this.#open.get(id)?.size ?? 0;
    if (!this.#room.makeFor(file.length - begun)) {
      this.#forget(id);
      return undefined;
    }
    const path = `${this.#newPath(id)}.exchange`;
    this.#write(path, file);
    this.#forget(id);
    return this.#waitingAt(id, path, file.length);
  }

  takeOver(): readonly WaitingExchange[] {
    const left = readdirSync(this.#folder)
      .filter((folder) => isAbandoned(folder))
      .flatMap((folder) => {
        const mine = join(this.#folder, `${this.#name}.${++this.#taken}`);
        try {
          renameSync(join(this.#folder, folder), mine);
          return this.#waitingIn(mine);
        } catch {
          // Another process was first.
          return [];
        } finally {
          removeEmpty(mine);
        }
      });
    this.#room.lookAgain();
    return left.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, waiting]) => waiting);
  }

  bytes(): number {
    return this.#room.bytes;
  }

  close(): void {
    removeEmpty(this.directory);
    for (const folder of readdirSync(this.#folder)) {
      if (!this.#isOwn(folder)) continue;
      removeEmpty(join(this.#folder, folder));
      try {
        renameSync(join(this.#folder, folder), join(this.#folder, nobodysName()));
      } catch {
        // It is gone: nothing was left in it.
      }
    }
  }

  #isOwn(folder: string): boolean {
    return folder === this.#name || folder.startsWith(`${this.#name}.`);
  }

  /** In the order in which they came, also among those of other processes. */
  #newPath(id: string): string {
    const [time, number] = [String(Date.now()), String(this.#written++)];
    return join(this.directory, `${time.padStart(15, '0')}-${number.padStart(8, '0')}-${id}`);
  }

  #write(path: string, file: Uint8Array): void {
    // The folder may have been taken over by a process that could not see this one.
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    replaceFileSync(path, file, { synced: false });
    this.#room.take(file.length);
  }

  #forget(id: string): void {
    const begun = this.#open.get(id);
    if (begun === undefined) return;
    this.#open.delete(id);
    this.#room.giveBack(begun.size);
    rmSync(begun.path, { force: true });
  }

  #waitingAt(id: string, path: string, size: number): WaitingExchange {
    let isThere = true;
    const leave = (act: () => void): void => {
      if (!isThere) return;
      isThere = false;
      act();
    };
    return {
      id,
      size,
      read: () => decodeExchangeFile(readRegularFile(path, MOST)),
      remove: () =>
        leave(() => {
          this.#room.giveBack(size);
          rmSync(path, { force: true });
        }),
      setAside: () =>
        leave(() => {
          const kept = `${path}.refused`;
          renameSync(path, kept);
          this.#room.setAside(kept, size);
        }),
    };
  }

  /** What waits in a folder that another process left, by the name of its file. */
  #waitingIn(folder: string): readonly (readonly [file: string, waiting: WaitingExchange])[] {
    return readdirSync(folder).flatMap((file) => {
      const path = join(folder, file);
      if (file.endsWith('.tmp')) {
        // The process ended while it wrote this one: nobody was told that it is kept.
        rmSync(path, { force: true });
        return [];
      }
      const size = sizeOf(path);
      this.#room.take(size);
      const id = NAME.exec(file)?.[1];
      if (id === undefined) return [];
      const waiting = this.#waitingAt(id, path, size);
      try {
        waiting.read();
      } catch {
        renameSync(path, `${path}.damaged`);
        this.#damaged(`${path}.damaged`);
        return [];
      }
      return [[file, waiting] as const];
    });
  }
}

const removeEmpty = (folder: string): void => {
  try {
    rmdirSync(folder);
  } catch {
    // Something waits in it.
  }
};
