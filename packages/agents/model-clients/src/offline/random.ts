import { sha256 } from '@stemma/canonical';

/** Numbers from 0 up to `below`, the same for the same seed on every machine: integers of 32 bits and nothing else. */
export const openSeededRandom = (seed: string): ((below: number) => number) => {
  const hash = sha256(new TextEncoder().encode(seed));
  let state = new DataView(hash.buffer, hash.byteOffset).getUint32(0);
  // mulberry32: a state of 32 bits is enough to choose some words.
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
};
