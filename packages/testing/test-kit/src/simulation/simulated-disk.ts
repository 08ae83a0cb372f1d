import type { Disk, FileStatus } from '@stemma/log-embedded';
import { compareCodePoints } from '@stemma/canonical';
import { dirname } from 'node:path';
import { NO_FAULTS, type Dice, type DiskFaults } from './power.ts';
import { applyAll, newFile, type SimulatedFile } from './simulated-file.ts';

/** Which rule of a disk is left out: each must make the simulation fail. */
export type DiskAblation = 'sync' | 'folder sync';

/** A disk that several simulated processes share: what they see of it, and what would be left after a power loss. */
export type SimulatedDisk = {
  /** The disk as a process sees it, through calls that count as its steps. @param step may throw */
  readonly seenBy: (step: (writing?: boolean) => void) => Disk;
  readonly setFaults: (faults: DiskFaults) => void;
  /** Keeps of everything that was not synced any part, in any order. */
  readonly losePower: () => void;
  /** The offset after the last byte that is no zero in a folder's segments: nothing was ever written behind it. */
  readonly extent: (folder: string) => number;
  /** Faults that happened, by kind. */
  readonly happened: ReadonlyMap<string, number>;
};

type Node = SimulatedFile | 'folder';

/**
 * A disk with one folder, `/home`.
 *
 * @param lost called before something is lost that was not synced
 */
export const openSimulatedDisk = (dice: Dice, lost: () => void, ablation?: DiskAblation): SimulatedDisk => {
  const live = new Map<string, Node>([
    ['/', 'folder'],
    ['/home', 'folder'],
  ]);
  const durable = new Map(live);
  const handles = new Map<number, { readonly node: Node; readonly path: string }>();
  const happened = new Map<string, number>();
  let faults = NO_FAULTS;
  let [lastHandle, lastFile] = [0, 0];

  const happens = (kind: keyof DiskFaults): boolean => {
    if (!dice.chance(faults[kind])) return false;
    happened.set(kind, (happened.get(kind) ?? 0) + 1);
    return true;
  };
  const failSometimes = (): void => {
    if (happens('callFails')) throw systemError('EIO');
  };
  const opened = (handle: number): { readonly node: Node; readonly path: string } => {
    const found = handles.get(handle);
    if (found === undefined) throw systemError('EBADF');
    return found;
  };
  const fileOf = (handle: number): SimulatedFile => {
    const { node } = opened(handle);
    if (node === 'folder') throw systemError('EISDIR');
    return node;
  };
  const childrenOf = (nodes: ReadonlyMap<string, Node>, folder: string): string[] =>
    [...nodes.keys()].filter((path) => path !== '/' && dirname(path) === folder);
  const statusOf = (node: Node): FileStatus =>
    node === 'folder' ? { ino: 0, size: 0 } : { ino: node.ino, size: node.live.length };

  const makeDurable = (handle: number): void => {
    const { node, path } = opened(handle);
    if (ablation === (node === 'folder' ? 'folder sync' : 'sync')) return;
    if (node !== 'folder') {
      if (happens('syncFails')) {
        lost();
        applyAll(node, dice, dice.roll());
        // The pages count as written now. Some are read from the cache for a while, some are gone at once.
        if (dice.chance(0.5)) node.live = Buffer.from(node.durable);
        throw systemError('EIO');
      }
      applyAll(node, dice, 1);
      return;
    }
    if (happens('syncFails')) throw systemError('EIO');
    for (const child of new Set([...childrenOf(live, path), ...childrenOf(durable, path)])) {
      const now = live.get(child);
      if (now === undefined) durable.delete(child);
      else durable.set(child, now);
    }
  };

  const write = (handle: number, bytes: Buffer, position: number): number => {
    const file = fileOf(handle);
    const grows = position + bytes.length > file.live.length;
    const noSpace = grows && happens('full');
    const length = noSpace || happens('short') ? dice.int(bytes.length) : bytes.length;
    if (noSpace && length === 0) throw systemError('ENOSPC');
    const written = Buffer.from(bytes.subarray(0, Math.max(1, length)));
    file.write(position, written);
    return written.length;
  };

  const seenBy = (step: (writing?: boolean) => void): Disk => ({
    open: (path, how) => {
      step();
      failSometimes();
      let node = live.get(path);
      if (node === undefined) {
        if (how !== 'make' || live.get(dirname(path)) !== 'folder') throw systemError('ENOENT');
        if (happens('full')) throw systemError('ENOSPC');
        node = newFile(++lastFile);
        live.set(path, node);
      }
      handles.set(++lastHandle, { node, path });
      return lastHandle;
    },
    openFolder: (path) => {
      step();
      failSometimes();
      const node = live.get(path);
      if (node === undefined) throw systemError('ENOENT');
      handles.set(++lastHandle, { node, path });
      return lastHandle;
    },
    close: (handle) => {
      step();
      handles.delete(handle);
    },
    read: (handle, into, at, length, position) => {
      step();
      failSometimes();
      const there = fileOf(handle).live.subarray(position, position + length);
      const got = there.length > 1 && happens('short') ? 1 + dice.int(there.length - 1) : there.length;
      there.copy(into, at, 0, got);
      return got;
    },
    write: (handle, bytes, at, length, position) => {
      const asked = bytes.subarray(at, at + length);
      try {
        step(true);
      } catch (error) {
        // Killed in the middle of it.
        if (handles.has(handle) && dice.chance(0.5))
          fileOf(handle).write(position, Buffer.from(asked.subarray(0, dice.int(length))));
        throw error;
      }
      failSometimes();
      return write(handle, asked, position);
    },
    status: (handle) => {
      step();
      return statusOf(opened(handle).node);
    },
    cut: (handle, size) => {
      step();
      failSometimes();
      fileOf(handle).cut(size);
    },
    syncData: (handle) => {
      step();
      makeDurable(handle);
    },
    sync: (handle) => {
      step();
      makeDurable(handle);
    },
    list: (folder) => {
      step();
      failSometimes();
      if (live.get(folder) !== 'folder') throw systemError('ENOENT');
      return childrenOf(live, folder).map((path) => path.slice(folder.length + 1));
    },
    remove: (path) => {
      step();
      failSometimes();
      if (!live.delete(path)) throw systemError('ENOENT');
    },
    rename: (path, to) => {
      step();
      failSometimes();
      const node = live.get(path);
      if (node === undefined) throw systemError('ENOENT');
      live.delete(path);
      live.set(to, node);
    },
    exists: (path) => {
      step();
      return live.has(path);
    },
    find: (path) => {
      step();
      const node = live.get(path);
      return node && statusOf(node);
    },
    makeFolder: (path) => {
      step();
      failSometimes();
      if (live.has(path)) return false;
      if (live.get(dirname(path)) !== 'folder') throw systemError('ENOENT');
      live.set(path, 'folder');
      return true;
    },
  });

  return {
    seenBy,
    setFaults: (next) => (faults = next),
    happened,
    extent: (folder) =>
      childrenOf(live, folder).reduce((end, path) => {
        const node = live.get(path);
        const base = Number(/(\d{16})\.seg$/.exec(path)?.[1] ?? NaN);
        if (node === undefined || node === 'folder' || Number.isNaN(base)) return end;
        return Math.max(end, base + node.live.findLastIndex((byte) => byte !== 0) + 1);
      }, 0),
    losePower: () => {
      lost();
      handles.clear();
      const kept = dice.pick([0, 0.5, 0.9, 1]);
      for (const path of new Set([...live.keys(), ...durable.keys()])) {
        const [now, before] = [live.get(path), durable.get(path)];
        const left = now !== before && dice.chance(kept) ? now : before;
        if (left === undefined) live.delete(path);
        else live.set(path, left);
      }
      // What lies in a folder that is gone is gone.
      for (const path of [...live.keys()].sort(compareCodePoints))
        if (!live.has(dirname(path))) live.delete(path);
      durable.clear();
      for (const [path, node] of live) {
        durable.set(path, node);
        if (node === 'folder') continue;
        applyAll(node, dice, kept);
        node.live = Buffer.from(node.durable);
      }
    },
  };
};

const systemError = (code: string): Error => Object.assign(new Error(`${code}: simulated`), { code });
