import type { Frame } from '@stemma/events';
import { expect, it } from 'vitest';
import { openDecodedFrames } from '../src/index.ts';

const hash = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const frame = (history: string, seq: number): Frame =>
  ({ envelope: { v: 1, history, seq, prev: hash(0) }, body: { events: [] } }) as unknown as Frame;

it('a decoded frame is given once, and only for the bytes that it was decoded from', () => {
  const frames = openDecodedFrames();
  const [mine, other] = [frame('h', 1), frame('h', 2)];
  frames.keep(mine, hash(1), 10);
  frames.keep(other, hash(2), 10);
  expect(frames.take({ envelope: mine.envelope, hash: hash(1) })).toBe(mine);
  expect(frames.take({ envelope: mine.envelope, hash: hash(1) })).toBeUndefined();
  expect(frames.take({ envelope: other.envelope, hash: hash(9) })).toBeUndefined();
});

it('decoded frames are kept up to a number of bytes, the newest of them', () => {
  const frames = openDecodedFrames(100);
  const all = Array.from({ length: 30 }, (_, seq) => frame('h', seq));
  for (const each of all) frames.keep(each, hash(each.envelope.seq), 10);
  const found = all.filter(({ envelope }) => frames.take({ envelope, hash: hash(envelope.seq) }));
  expect(found).toEqual(all.slice(20));
  frames.keep(frame('large', 0), hash(1), 101);
  expect(frames.take({ envelope: frame('large', 0).envelope, hash: hash(1) })).toBeUndefined();
});
