import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { readRegularFile, replaceFileSync } from '@stemma/machine';
import { join } from 'node:path';
import { decodeExchangeFile, encodeExchangeFile } from './exchange-file.ts';
import { isAbandoned, nobodysName, ownName } from './owner.ts';
import type { Spool, SpoolOptions, WaitingExchange } from './spool.ts';

/** The name of a file: when it was written, a number, and the id of the exchange. */
const NAME = /^\d+-\d+-(.+?)\.(?:open|exchange)(?:\.refused)?$/;

const NOT_SEEN = { bytes: 0, at: Number.NEGATIVE_INFINITY };

/** No exchange has more bytes. */
const MOST = 2 ** 30;

/** How long what others hold is remembered, in milliseconds. */
const REMEMBERED = 1_000;

/**
 * Opens a spool in a folder. An exchange is a file that is written whole, under another name first, so it survives the end of the
 * process at any moment; a loss of power may take the last ones.
 *
 * @throws if the folder cannot be written
 */
export const openDiskSpool = ({ directory, limit, damaged }: SpoolOptions): Spool => {
  const name = ownName();
  const own = join(directory, name);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  let [bytes, count, taken] = [0, 0, 0];
  let others = NOT_SEEN;
  const open = new Map<string, { readonly path: string; readonly size: number }>();
  /** Exchanges that cannot be recorded; the oldest make room for new ones. */
  const aside: { readonly path: string; readonly size: number }[] = [];

  const bytesOfOthers = (): number => {
    const now = performance.now();
    if (now - others.at < REMEMBERED) return others.bytes;
    let sum = 0;
    for (const folder of readdirSync(directory))
      if (folder !== name && !folder.startsWith(`${name}.`)) sum += bytesIn(join(directory, folder));
    others = { bytes: sum, at: now };
    return sum;
  };
  const hasRoom = (size: number): boolean => {
    const fits = (): boolean => bytes + size + bytesOfOthers() <= limit;
    for (let oldest = aside[0]; !fits() && oldest !== undefined; oldest = aside[0]) {
      aside.shift();
      rmSync(oldest.path, { force: true });
      bytes -= oldest.size;
    }
    return fits();
  };
  const write = (path: string, file: Uint8Array): void => {
    // The folder may have been taken over by a process that could not see this one.
    mkdirSync(own, { recursive: true, mode: 0o700 });
    replaceFileSync(path, file, { synced: false });
  };
  const forget = (id: string): void => {
    const begun = open.get(id);
    if (begun === undefined) return;
    open.delete(id);
    bytes -= begun.size;
    rmSync(begun.path, { force: true });
  };
  /** In the order in which they came, also among those of other processes. */
  const pathOf = (id: string): string =>
    join(own, `${String(Date.now()).padStart(15, '0')}-${String(count++).padStart(8, '0')}-${id}`);
  const waitingAt = (id: string, path: string, size: number): WaitingExchange => {
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
          bytes -= size;
          rmSync(path, { force: true });
        }),
      setAside: () =>
        leave(() => {
          const kept = `${path}.refused`;
          renameSync(path, kept);
          aside.push({ path: kept, size });
        }),
    };
  };
  /** What waits in a folder that another process left, by the name of its file. */
  const found = (folder: string): readonly (readonly [file: string, waiting: WaitingExchange])[] =>
    readdirSync(folder).flatMap((file) => {
      const path = join(folder, file);
      if (file.endsWith('.tmp')) {
        // The process ended while it wrote this one: nobody was told that it is kept.
        rmSync(path, { force: true });
        return [];
      }
      const size = sizeOf(path);
      bytes += size;
      const id = NAME.exec(file)?.[1];
      if (id === undefined) return [];
      const waiting = waitingAt(id, path, size);
      try {
        waiting.read();
      } catch {
        renameSync(path, `${path}.damaged`);
        damaged(`${path}.damaged`);
        return [];
      }
      return [[file, waiting] as const];
    });

  return {
    directory: own,
    begin: (id, json) => {
      const file = encodeExchangeFile(json);
      if (!hasRoom(file.length)) return;
      const path = `${pathOf(id)}.open`;
      write(path, file);
      bytes += file.length;
      open.set(id, { path, size: file.length });
    },
    keep: (id, json) => {
      const file = encodeExchangeFile(json);
      const begun = open.get(id)?.size ?? 0;
      if (!hasRoom(file.length - begun)) {
        forget(id);
        return undefined;
      }
      const path = `${pathOf(id)}.exchange`;
      write(path, file);
      bytes += file.length;
      forget(id);
      return waitingAt(id, path, file.length);
    },
    takeOver: () => {
      const left = readdirSync(directory)
        .filter((folder) => isAbandoned(folder))
        .flatMap((folder) => {
          const mine = join(directory, `${name}.${++taken}`);
          try {
            renameSync(join(directory, folder), mine);
            return found(mine);
          } catch {
            // Another process was first.
            return [];
          } finally {
            removeEmpty(mine);
          }
        });
      others = NOT_SEEN;
      return left.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, waiting]) => waiting);
    },
    bytes: () => bytes,
    close: () => {
      removeEmpty(own);
      for (const folder of readdirSync(directory)) {
        if (folder !== name && !folder.startsWith(`${name}.`)) continue;
        removeEmpty(join(directory, folder));
        try {
          renameSync(join(directory, folder), join(directory, nobodysName()));
        } catch {
          // It is gone: nothing was left in it.
        }
      }
    },
  };
};

const removeEmpty = (folder: string): void => {
  try {
    rmdirSync(folder);
  } catch {
    // Something waits in it.
  }
};

const bytesIn = (folder: string): number =>
  namesIn(folder).reduce((sum, file) => sum + sizeOf(join(folder, file)), 0);

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder);
  } catch {
    // Its process ended, or it is no folder.
    return [];
  }
};

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
