import type { Disk, FileStatus } from '@stemma/log-embedded';
import { compareCodePoints } from '@stemma/canonical';
import { dirname } from 'node:path';
import { NO_FAULTS, type Dice, type DiskFaults } from './power.ts';
import { applyAll, newFile, type SimulatedFile } from './simulated-file.ts';

/** Which rule of a disk is left out: each must make the simulation fail. */
export type DiskAblation = 'sync' | 'folder sync';

type Node = SimulatedFile | 'folder';
type Opened = { readonly node: Node; readonly path: string };

/** A disk with one folder, `/home`, that several simulated processes share: what they see of it, and what would be left after a power loss. */
export class SimulatedDisk {
  readonly #dice: Dice;
  readonly #lost: () => void;
  readonly #ablation: DiskAblation | undefined;
  readonly #live = new Map<string, Node>([
    ['/', 'folder'],
    ['/home', 'folder'],
  ]);
  readonly #durable = new Map(this.#live);
  readonly #handles = new Map<number, Opened>();
  readonly #happened = new Map<string, number>();
  #faults = NO_FAULTS;
  #lastHandle = 0;
  #lastFile = 0;

  /** @param lost called before something is lost that was not synced */
  constructor(dice: Dice, lost: () => void, ablation?: DiskAblation) {
    this.#dice = dice;
    this.#lost = lost;
    this.#ablation = ablation;
  }

  /** Faults that happened, by kind. */
  get happened(): ReadonlyMap<string, number> {
    return this.#happened;
  }

  setFaults(faults: DiskFaults): void {
    this.#faults = faults;
  }

  /** The offset after the last byte that is no zero in a folder's segments: nothing was ever written after it. */
  extent(folder: string): number {
    return childrenOf(this.#live, folder).reduce((end, path) => {
      const node = this.#live.get(path);
      const base = Number(/(\d{16})\.seg$/.exec(path)?.[1] ?? NaN);
      if (node === undefined || node === 'folder' || Number.isNaN(base)) return end;
      return Math.max(end, base + node.live.findLastIndex((byte) => byte !== 0) + 1);
    }, 0);
  }

  /** Keeps of everything that was not synced any part, in any order. */
  losePower(): void {
    this.#lost();
    this.#handles.clear();
    const kept = this.#dice.pick([0, 0.5, 0.9, 1]);
    for (const path of new Set([...this.#live.keys(), ...this.#durable.keys()])) {
      const [now, before] = [this.#live.get(path), this.#durable.get(path)];
      const left = now !== before && this.#dice.chance(kept) ? now : before;
      if (left === undefined) this.#live.delete(path);
      else this.#live.set(path, left);
    }
    // What lies in a folder that is gone is gone.
    for (const path of [...this.#live.keys()].sort(compareCodePoints))
      if (!this.#live.has(dirname(path))) this.#live.delete(path);
    this.#durable.clear();
    for (const [path, node] of this.#live) {
      this.#durable.set(path, node);
      if (node === 'folder') continue;
      applyAll(node, this.#dice, kept);
      node.live = Buffer.from(node.durable);
    }
  }

  /** The disk as a process sees it, through calls that count as its steps. @param step may throw */
  seenBy(step: (writing?: boolean) => void): Disk {
    return {
      open: (path, how) => {
        step();
        this.#failSometimes();
        let node = this.#live.get(path);
        if (node === undefined) {
          if (how !== 'make' || this.#live.get(dirname(path)) !== 'folder') throw systemError('ENOENT');
          if (this.#happens('full')) throw systemError('ENOSPC');
          node = newFile(++this.#lastFile);
          this.#live.set(path, node);
        }
        this.#handles.set(++this.#lastHandle, { node, path });
        return this.#lastHandle;
      },
      openFolder: (path) => {
        step();
        this.#failSometimes();
        const node = this.#live.get(path);
        if (node === undefined) throw systemError('ENOENT');
        this.#handles.set(++this.#lastHandle, { node, path });
        return this.#lastHandle;
      },
      close: (handle) => {
        step();
        this.#handles.delete(handle);
      },
      read: (handle, into, at, length, position) => {
        step();
        this.#failSometimes();
        const there = this.#fileOf(handle).live.subarray(position, position + length);
        const got =
          there.length > 1 && this.#happens('short') ? 1 + this.#dice.int(there.length - 1) : there.length;
        there.copy(into, at, 0, got);
        return got;
      },
      write: (handle, bytes, at, length, position) => {
        const asked = bytes.subarray(at, at + length);
        try {
          step(true);
        } catch (error) {
          // Killed in the middle of it.
          if (this.#handles.has(handle) && this.#dice.chance(0.5))
            this.#fileOf(handle).write(position, Buffer.from(asked.subarray(0, this.#dice.int(length))));
          throw error;
        }
        this.#failSometimes();
        return this.#write(handle, asked, position);
      },
      status: (handle) => {
        step();
        return statusOf(this.#opened(handle).node);
      },
      cut: (handle, size) => {
        step();
        this.#failSometimes();
        this.#fileOf(handle).cut(size);
      },
      syncData: (handle) => {
        step();
        this.#makeDurable(handle);
      },
      sync: (handle) => {
        step();
        this.#makeDurable(handle);
      },
      list: (folder) => {
        step();
        this.#failSometimes();
        if (this.#live.get(folder) !== 'folder') throw systemError('ENOENT');
        return childrenOf(this.#live, folder).map((path) => path.slice(folder.length + 1));
      },
      remove: (path) => {
        step();
        this.#failSometimes();
        if (!this.#live.delete(path)) throw systemError('ENOENT');
      },
      rename: (path, to) => {
        step();
        this.#failSometimes();
        const node = this.#live.get(path);
        if (node === undefined) throw systemError('ENOENT');
        this.#live.delete(path);
        this.#live.set(to, node);
      },
      exists: (path) => {
        step();
        return this.#live.has(path);
      },
      find: (path) => {
        step();
        const node = this.#live.get(path);
        return node && statusOf(node);
      },
      makeFolder: (path) => {
        step();
        this.#failSometimes();
        if (this.#live.has(path)) return false;
        if (this.#live.get(dirname(path)) !== 'folder') throw systemError('ENOENT');
        this.#live.set(path, 'folder');
        return true;
      },
    };
  }

  #happens(kind: keyof DiskFaults): boolean {
    if (!this.#dice.chance(this.#faults[kind])) return false;
    this.#happened.set(kind, (this.#happened.get(kind) ?? 0) + 1);
    return true;
  }

  #failSometimes(): void {
    if (this.#happens('callFails')) throw systemError('EIO');
  }

  #opened(handle: number): Opened {
    const found = this.#handles.get(handle);
    if (found === undefined) throw systemError('EBADF');
    return found;
  }

  #fileOf(handle: number): SimulatedFile {
    const { node } = this.#opened(handle);
    if (node === 'folder') throw systemError('EISDIR');
    return node;
  }

  #makeDurable(handle: number): void {
    const { node, path } = this.#opened(handle);
    if (this.#ablation === (node === 'folder' ? 'folder sync' : 'sync')) return;
    if (node !== 'folder') {
      if (this.#happens('syncFails')) {
        this.#lost();
        applyAll(node, this.#dice, this.#dice.roll());
        // The pages count as written now. Some are read from the cache for a while, some are gone at once.
        if (this.#dice.chance(0.5)) node.live = Buffer.from(node.durable);
        throw systemError('EIO');
      }
      applyAll(node, this.#dice, 1);
      return;
    }
    if (this.#happens('syncFails')) throw systemError('EIO');
    for (const child of new Set([...childrenOf(this.#live, path), ...childrenOf(this.#durable, path)])) {
      const now = this.#live.get(child);
      if (now === undefined) this.#durable.delete(child);
      else this.#durable.set(child, now);
    }
  }

  #write(handle: number, bytes: Buffer, position: number): number {
    const file = this.#fileOf(handle);
    const grows = position + bytes.length > file.live.length;
    const noSpace = grows && this.#happens('full');
    const length = noSpace || this.#happens('short') ? this.#dice.int(bytes.length) : bytes.length;
    if (noSpace && length === 0) throw systemError('ENOSPC');
    const written = Buffer.from(bytes.subarray(0, Math.max(1, length)));
    file.write(position, written);
    return written.length;
  }
}

const childrenOf = (nodes: ReadonlyMap<string, Node>, folder: string): string[] =>
  [...nodes.keys()].filter((path) => path !== '/' && dirname(path) === folder);

const statusOf = (node: Node): FileStatus =>
  node === 'folder' ? { ino: 0, size: 0 } : { ino: node.ino, size: node.live.length };

const systemError = (code: string): Error => Object.assign(new Error(`${code}: simulated`), { code });
