/** FIPS 180-4 §5.3.1. */
export const SHA1_START: readonly number[] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];

const schedule = new Int32Array(80);

/** Takes one block of 64 bytes into the five words (FIPS 180-4 §6.1.2). */
export const addSha1Block = (words: Int32Array, bytes: Buffer, at: number): void => {
  const w = schedule;
  for (let i = 0; i < 16; i++) w[i] = bytes.readInt32BE(at + 4 * i);
  for (let i = 16; i < 80; i++)
    w[i] = left(word(w, i - 3) ^ word(w, i - 8) ^ word(w, i - 14) ^ word(w, i - 16), 1);
  let a = word(words, 0);
  let b = word(words, 1);
  let c = word(words, 2);
  let d = word(words, 3);
  let e = word(words, 4);
  for (let i = 0; i < 80; i++) {
    const mixed =
      i < 20
        ? ((b & c) | (~b & d)) + 0x5a827999
        : i < 40
          ? (b ^ c ^ d) + 0x6ed9eba1
          : i < 60
            ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
            : (b ^ c ^ d) + 0xca62c1d6;
    const next = (left(a, 5) + mixed + e + word(w, i)) | 0;
    e = d;
    d = c;
    c = left(b, 30);
    b = a;
    a = next;
  }
  words[0] = word(words, 0) + a;
  words[1] = word(words, 1) + b;
  words[2] = word(words, 2) + c;
  words[3] = word(words, 3) + d;
  words[4] = word(words, 4) + e;
};

const word = (words: Int32Array, at: number): number => words[at] as number;

const left = (value: number, by: number): number => (value << by) | (value >>> (32 - by));
