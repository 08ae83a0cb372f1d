import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const NOT_SEEN = { bytes: 0, at: Number.NEGATIVE_INFINITY };

/** How long what others hold is remembered, in milliseconds. */
const REMEMBERED = 1_000;

/** The room that exchanges take which wait, with those of other processes. */
export class SpoolRoom {
  readonly #limit: number;
  readonly #foldersOfOthers: () => readonly string[];
  #bytes = 0;
  #others = NOT_SEEN;
  /** Exchanges that cannot be recorded; the oldest make room for new ones. */
  readonly #aside: { readonly path: string; readonly size: number }[] = [];

  constructor(limit: number, foldersOfOthers: () => readonly string[]) {
    this.#limit = limit;
    this.#foldersOfOthers = foldersOfOthers;
  }

  get bytes(): number {
    return this.#bytes;
  }

  take(size: number): void {
    this.#bytes += size;
  }

  giveBack(size: number): void {
    this.#bytes -= size;
  }

  setAside(path: string, size: number): void {
    this.#aside.push({ path, size });
  }

  /** @returns false if there is no room for so many bytes more */
  makeFor(size: number): boolean {
    const fits = (): boolean => this.#bytes + size + this.#bytesOfOthers() <= this.#limit;
    for (let oldest = this.#aside[0]; !fits() && oldest !== undefined; oldest = this.#aside[0]) {
      this.#aside.shift();
      rmSync(oldest.path, { force: true });
      this.#bytes -= oldest.size;
    }
    return fits();
  }

  /** Other processes may hold something else now. */
  lookAgain(): void {
    this.#others = NOT_SEEN;
  }

  #bytesOfOthers(): number {
    const now = performance.now();
    if (now - this.#others.at < REMEMBERED) return this.#others.bytes;
    const bytes = this.#foldersOfOthers().reduce((sum, folder) => sum + bytesIn(folder), 0);
    this.#others = { bytes, at: now };
    return bytes;
  }
}

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

export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
