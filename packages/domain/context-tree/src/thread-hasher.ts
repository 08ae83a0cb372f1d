import { sha256 } from '@stemma/canonical';
import { createHash, type Hash } from 'node:crypto';

/** Turns between two stored states of the hash. */
const STRIDE = 64;
const BYTES = 32;
/** Turns for which there is room at first: most histories stay short, and thousands of them are in memory. */
const AT_FIRST = 4;

/**
 * SHA-256 over the slice hashes of `^sys`, the turns and `^ah`, in this order (snapshots: thread hash). A commit does
 * not hash the old turns again: the state of the hash is stored at every 64th turn.
 */
export class ThreadHasher {
  #slots = Buffer.alloc(BYTES * AT_FIRST);
  /** The turns before this index are up to date in `#slots`. */
  #written = 0;
  #sys = '';
  /** `#states[k]` includes `^sys` and the first k · 64 turns. */
  #states: Hash[] = [];

  /** Marks the turns from this index on as changed or moved. */
  cut(from: number): void {
    if (from >= this.#written) return;
    this.#written = from;
    this.#states.length = Math.min(this.#states.length, Math.floor(from / STRIDE) + 1);
  }

  /** The thread hash. Digests are latin1 texts of 32 bytes; `slice` returns that of a turn. */
  hash(sys: string, turns: number, slice: (turn: number) => string, ah: string): Uint8Array {
    this.#room(turns);
    for (let i = this.#written; i < turns; i++) this.#slots.write(slice(i), BYTES * i, 'latin1');
    this.#written = turns;
    if (turns < STRIDE) return inOneCall(sys, this.#slots, turns, ah);
    if (sys !== this.#sys || this.#states.length === 0)
      this.#states = [createHash('sha256').update(sys, 'latin1')];
    this.#sys = sys;
    for (let k = this.#states.length; k * STRIDE <= turns; k++) {
      const next = (this.#states[k - 1] as Hash).copy();
      this.#states.push(next.update(this.#slots.subarray(BYTES * STRIDE * (k - 1), BYTES * STRIDE * k)));
    }
    const last = this.#states.length - 1;
    const rest = this.#slots.subarray(BYTES * STRIDE * last, BYTES * turns);
    return new Uint8Array((this.#states[last] as Hash).copy().update(rest).update(ah, 'latin1').digest());
  }

  #room(turns: number): void {
    if (BYTES * turns <= this.#slots.length) return;
    const larger = Buffer.alloc(2 * BYTES * turns);
    this.#slots.copy(larger);
    this.#slots = larger;
  }
}

/** With few turns, hashing them again is faster than copying the state of a hash. */
const inOneCall = (sys: string, slots: Buffer, turns: number, ah: string): Uint8Array => {
  few.write(sys, 0, 'latin1');
  few.set(slots.subarray(0, BYTES * turns), BYTES);
  few.write(ah, BYTES * (turns + 1), 'latin1');
  return sha256(few.subarray(0, BYTES * (turns + 2)));
};

const few = Buffer.alloc(BYTES * (STRIDE + 2));
