import { sha256Hex } from '@stemma/canonical';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeBundle,
  encodeEnd,
  encodeHeader,
  encodeItem,
  type BundleBytes,
  type BundleItem,
} from '../src/bundle/bundle-file.ts';

const header = { history: 'h', branchId: null, run: 'r', name: 'shop' };
const written = (items: readonly BundleItem[]): Buffer => {
  const body = Buffer.concat([encodeHeader(header), ...items.flatMap(encodeItem)]);
  return Buffer.concat([body, encodeEnd(sha256Hex(body))]);
};
const content = (bytes: Uint8Array): BundleItem => ({ kind: 'content', sha256: sha256Hex(bytes), bytes });
const bytesOf = (file: Buffer): BundleBytes => ({
  size: file.length,
  read: (at, length) => file.subarray(at, at + length),
});
const read = (file: Buffer): readonly BundleItem[] => [...decodeBundle(bytesOf(file), 'f.stemma').items];

describe('a bundle', () => {
  it('gives back what was written, whatever its bytes are', () => {
    const item = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map(content),
      fc.uint8Array({ maxLength: 200 }).map((bytes): BundleItem => ({ kind: 'frame', bytes })),
      fc.constant<BundleItem>({ kind: 'frame', bytes: Buffer.from('frame 3\nabc\nend ') }),
    );
    fc.assert(
      fc.property(fc.array(item, { maxLength: 8 }), (items) => {
        const file = written(items);
        expect(decodeBundle(bytesOf(file), 'f.stemma').header).toEqual(header);
        expect(read(file).map((each) => ({ ...each, bytes: Buffer.from(each.bytes) }))).toEqual(
          items.map((each) => ({ ...each, bytes: Buffer.from(each.bytes) })),
        );
      }),
    );
  });

  it('of which a byte changed, is missing or was added is refused', () => {
    const file = written([content(Buffer.from('text')), { kind: 'frame', bytes: Buffer.from('frame') }]);
    for (let at = 0; at < file.length; at++) {
      const changed = Buffer.from(file);
      changed[at] = (changed[at] as number) ^ 1;
      expect(() => read(changed), `byte ${at}`).toThrow(
        expect.objectContaining({
          code: expect.stringMatching(/^E_(BUNDLE_DAMAGED|VERSION_NEEDED)$/) as string,
        }),
      );
      expect(() => read(file.subarray(0, at)), `cut at ${at}`).toThrow();
    }
    expect(() => read(Buffer.concat([file, file]))).toThrow();
  });

  it.each([
    ['a content with another hash', `content ${'0'.repeat(64)} 1\na\n`],
    ['a size that leads behind the end', 'frame 999999999\na\n'],
    ['a size that is no number', 'frame 01\na\n'],
    ['a line that nobody knows', 'index 1\na\n'],
    ['bytes without their line feed', 'frame 1\nab'],
  ])('with %s is refused, though its own hash is right', (_what, item) => {
    const body = Buffer.concat([encodeHeader(header), Buffer.from(item)]);
    const file = Buffer.concat([body, encodeEnd(sha256Hex(body))]);
    expect(() => read(file)).toThrow(expect.objectContaining({ code: 'E_BUNDLE_DAMAGED' }));
  });

  it.each([
    ['{"history":"h"}', 'E_BUNDLE_DAMAGED'],
    ['[]', 'E_BUNDLE_DAMAGED'],
    ['{"history":"h","branchId":-1,"run":null,"name":""}', 'E_BUNDLE_DAMAGED'],
  ])('with the head %s is refused', (line, code) => {
    const body = Buffer.from(`stemma bundle 1\n${line}\n`);
    const file = Buffer.concat([body, encodeEnd(sha256Hex(body))]);
    expect(() => decodeBundle(bytesOf(file), 'f.stemma')).toThrow(expect.objectContaining({ code }));
  });

  it('of a later version says that a newer Stemma reads it', () => {
    expect(() => decodeBundle(bytesOf(Buffer.from('stemma bundle 2\nwhatever\n')), 'f.stemma')).toThrow(
      expect.objectContaining({ code: 'E_VERSION_NEEDED' }),
    );
  });
});
