import type { Dice } from './power.ts';

/** A file as processes see it, as the disk has it, and what was done to it since it was synced. */
export type SimulatedFile = {
  readonly ino: number;
  /** What processes see: the page cache. */
  live: Buffer;
  /** What is left after a power loss, with any part of what was not synced. */
  durable: Buffer;
  readonly unsynced: Change[];
  readonly write: (position: number, bytes: Buffer) => void;
  readonly cut: (size: number) => void;
};

type Change =
  | { readonly kind: 'write'; readonly position: number; readonly bytes: Buffer }
  | { readonly kind: 'cut'; readonly size: number };

/** What a disk writes as a whole. */
const SECTOR = 512;

export const newFile = (ino: number): SimulatedFile => {
  const file: SimulatedFile = {
    ino,
    live: Buffer.alloc(0),
    durable: Buffer.alloc(0),
    unsynced: [],
    write: (position, bytes) => {
      file.live = written(file.live, position, bytes);
      file.unsynced.push({ kind: 'write', position, bytes });
    },
    cut: (size) => {
      file.live = Buffer.from(file.live.subarray(0, size));
      file.unsynced.push({ kind: 'cut', size });
    },
  };
  return file;
};

/** Makes each sector of each change durable with this chance, whatever came before it; 1 is a sync. */
export const applyAll = (file: SimulatedFile, dice: Dice, kept: number): void => {
  for (const change of file.unsynced.splice(0)) {
    const all = kept >= 1;
    if (change.kind === 'cut') {
      if (all || dice.chance(kept)) file.durable = Buffer.from(file.durable.subarray(0, change.size));
      continue;
    }
    const { position, bytes } = change;
    for (let at = 0; at < bytes.length;) {
      const length = all ? bytes.length : Math.min(SECTOR - ((position + at) % SECTOR), bytes.length - at);
      if (all || dice.chance(kept))
        file.durable = written(file.durable, position + at, bytes.subarray(at, at + length));
      at += length;
    }
  }
};

const written = (before: Buffer, position: number, bytes: Buffer): Buffer => {
  const after = Buffer.alloc(Math.max(before.length, position + bytes.length));
  before.copy(after);
  bytes.copy(after, position);
  return after;
};
