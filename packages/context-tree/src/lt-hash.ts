import { shake128 } from '@stemma/canonical';

/** Lanes of 16 bits, little-endian (Bellare and Micciancio 1997; Lewi et al., "Securing Update Propagation with Homomorphic Hashing", 2019). */
export const SUM_BYTES = 2048;

/** The sum of nothing. */
export const emptySum = (): Uint8Array => new Uint8Array(SUM_BYTES);

/** True where a Uint16Array reads bytes in the order of the lanes: on every machine that one is likely to meet. */
const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Adds (or, with `sign` -1, takes away) an element: its bytes expanded to 2 KiB, lane by lane modulo 2^16. In place. */
export const addToSum = (sum: Uint8Array, element: Uint8Array, sign: 1 | -1): void => {
  const lanes = shake128(element, SUM_BYTES);
  if (LITTLE_ENDIAN && (sum.byteOffset | lanes.byteOffset) % 2 === 0) {
    const to = new Uint16Array(sum.buffer, sum.byteOffset, SUM_BYTES / 2);
    const from = new Uint16Array(lanes.buffer, lanes.byteOffset, SUM_BYTES / 2);
    for (let i = 0; i < to.length; i++) to[i] = (to[i] as number) + sign * (from[i] as number);
    return;
  }
  for (let i = 0; i < SUM_BYTES; i += 2) {
    const a = (sum[i] as number) | ((sum[i + 1] as number) << 8);
    const b = (lanes[i] as number) | ((lanes[i + 1] as number) << 8);
    const c = a + sign * b;
    sum[i] = c & 0xff;
    sum[i + 1] = (c >> 8) & 0xff;
  }
};

/** What a child of a region adds to the sum, before it is expanded: msgpack([name of the region, digest]). */
export const element = (region: '^sys' | '^seq' | '^ah', digest: string): Uint8Array => {
  const name = region.length;
  const bytes = Buffer.allocUnsafe(name + 36);
  bytes[0] = 0x92;
  bytes[1] = 0xa0 | name;
  bytes.write(region, 2, 'latin1');
  bytes[name + 2] = 0xc4;
  bytes[name + 3] = 32;
  bytes.write(digest, name + 4, 'latin1');
  return bytes;
};
