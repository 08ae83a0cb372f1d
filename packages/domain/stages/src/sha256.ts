/** FIPS 180-4 §5.3.3. */
export const SHA256_START: readonly number[] = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

// FIPS 180-4 §4.2.2.
// prettier-ignore
const K = Int32Array.from([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);

const schedule = new Int32Array(64);

/** Takes one block of 64 bytes into the eight words (FIPS 180-4 §6.2.2). */
export const addSha256Block = (words: Int32Array, bytes: Buffer, at: number): void => {
  const w = schedule;
  for (let i = 0; i < 16; i++) w[i] = bytes.readInt32BE(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const x = word(w, i - 15);
    const y = word(w, i - 2);
    const s0 = right(x, 7) ^ right(x, 18) ^ (x >>> 3);
    const s1 = right(y, 17) ^ right(y, 19) ^ (y >>> 10);
    w[i] = word(w, i - 16) + s0 + word(w, i - 7) + s1;
  }
  let a = word(words, 0);
  let b = word(words, 1);
  let c = word(words, 2);
  let d = word(words, 3);
  let e = word(words, 4);
  let f = word(words, 5);
  let g = word(words, 6);
  let h = word(words, 7);
  for (let i = 0; i < 64; i++) {
    const s1 = right(e, 6) ^ right(e, 11) ^ right(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + word(K, i) + word(w, i)) | 0;
    const s0 = right(a, 2) ^ right(a, 13) ^ right(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  words[0] = word(words, 0) + a;
  words[1] = word(words, 1) + b;
  words[2] = word(words, 2) + c;
  words[3] = word(words, 3) + d;
  words[4] = word(words, 4) + e;
  words[5] = word(words, 5) + f;
  words[6] = word(words, 6) + g;
  words[7] = word(words, 7) + h;
};

const word = (words: Int32Array, at: number): number => words[at] as number;

const right = (value: number, by: number): number => (value >>> by) | (value << (32 - by));
