import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { base32Digest, fromHex, sha256, sha256Hex, shake128, shake128Text, toHex } from '../src/index.ts';
import { fc } from './arbitraries.ts';

describe('hashes', () => {
  it('agree with node:crypto on any bytes', { tags: ['record§1'] }, () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const expected = createHash('sha256').update(bytes).digest('hex');
        expect(sha256Hex(bytes)).toBe(expected);
        expect(toHex(sha256(bytes))).toBe(expected);
        expect(fromHex(expected)).toEqual(sha256(bytes));
      }),
    );
  });

  it('expand to any length', { tags: ['snapshots:tree-hash'] }, () => {
    expect(toHex(shake128(new Uint8Array(), 8))).toBe('7f9c2ba4e88f827d');
    expect(shake128(fromHex('00'), 2048)).toHaveLength(2048);
    expect(
      Buffer.from(shake128Text(fromHex('00'), 2048), 'latin1').equals(shake128(fromHex('00'), 2048)),
    ).toBe(true);
  });

  it('name things in base32 as RFC 4648 does', { tags: ['record§3'] }, () => {
    // base32(SHA-256("")), from coreutils.
    expect(base32Digest('', 20)).toBe('4oymiquy7qobjgx36tej');
    expect(base32Digest('', 51)).toBe('4oymiquy7qobjgx36tejs35zeqt24qpemsnzgtfeswmrw6csxbk');
  });
});
