import { sealRecord, type Entry } from '@stemma/log';
import { expect, it } from 'vitest';
import type { EncodedBatch } from '../src/protocol/encode-batch.ts';
import type { PlacedBatch } from '../src/protocol/produce-request.ts';
import { decodeBatches } from '../src/protocol/record-batches.ts';
import { openSender } from '../src/sender.ts';

type Send = {
  readonly values: readonly string[];
  readonly place: (base: number) => void;
  readonly fail: (error: Error) => void;
};

/** A sender to brokers that answer when the test says so, and what was sent to them. */
const openPart = () => {
  const sends: Send[] = [];
  const ends: number[] = [];
  const produce = (_: number, { head, body }: EncodedBatch): Promise<PlacedBatch> =>
    new Promise((resolve, fail) => {
      const place = (base: number): void => {
        resolve({ base, start: 0 });
      };
      const { records } = decodeBatches(Buffer.concat([head, body]), 0);
      sends.push({ values: records.map(({ bytes }) => nameOf(bytes)), place, fail });
    });
  const append = openSender({ produce }, 0, (end) => void ends.push(end));
  const sent = (count: number) => expect.poll(() => sends.length).toBe(count);
  return { append, sends, ends, sent };
};

const SIZE = 400 * 1024;
/** Two fit in one send. */
const large = (name: string): Entry => ({ key: 'h', bytes: sealRecord(Buffer.alloc(SIZE, name)) });
const small = (name: string): Entry => ({ key: 'h', bytes: sealRecord(Buffer.from(name)) });
const nameOf = (bytes: Uint8Array): string => String.fromCharCode(bytes[0] ?? 0);
const at = (base: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ offset: base + i, next: base + i + 1 }));

it(
  'one send is under way at a time, and what waits meanwhile goes in order into the next',
  { tags: ['record§3:batches'] },
  async () => {
    const { append, sends, ends, sent } = openPart();
    const first = append([small('a')]);
    await sent(1);
    const others = [append([small('b'), small('c')]), append([small('d')])];
    sends[0]!.place(10);
    expect(await first).toEqual(at(10, 1));
    await sent(2);
    sends[1]!.place(20);
    expect(await Promise.all(others)).toEqual([at(20, 2), at(22, 1)]);
    expect(sends.map(({ values }) => values.join(''))).toEqual(['a', 'bcd']);
    expect(ends).toEqual([11, 23]);
  },
);

it(
  'an append that fills more than a send is in several, one after the other, and what comes later is behind it',
  { tags: ['record§3:batches'] },
  async () => {
    const { append, sends, sent } = openPart();
    const first = append(['a', 'b', 'c', 'd', 'e'].map(large));
    const second = append([small('f')]);
    for (const [i, base] of [0, 2, 9].entries()) {
      await sent(i + 1);
      sends[i]!.place(base);
    }
    expect(await first).toEqual([...at(0, 2), ...at(2, 2), ...at(9, 1)]);
    expect(await second).toEqual(at(10, 1));
    expect(sends.map(({ values }) => values.join(''))).toEqual(['ab', 'cd', 'ef']);
  },
);

it(
  'of an append that failed nothing more is sent, although it was encoded already; the others are',
  { tags: ['record§3:batches'] },
  async () => {
    const { append, sends, sent } = openPart();
    const failing = append(['a', 'b', 'c'].map(large));
    const others = [append([large('d')]), append([small('e')])];
    await sent(1);
    const refused = new Error('refused');
    sends[0]!.fail(refused);
    await expect(failing).rejects.toBe(refused);
    await sent(2);
    sends[1]!.place(5);
    expect(await Promise.all(others)).toEqual([at(5, 1), at(6, 1)]);
    expect(sends.map(({ values }) => values.join(''))).toEqual(['ab', 'de']);
  },
);

it(
  'an append that failed in its second send does not say that nothing was written',
  { tags: ['record§3:unknown-outcome'] },
  async () => {
    const { append, sends, sent } = openPart();
    const failing = append(['a', 'b', 'c'].map(large));
    await sent(1);
    sends[0]!.place(0);
    await sent(2);
    const refused = Object.assign(new Error('refused'), { detail: { written: false } });
    sends[1]!.fail(refused);
    const error = await failing.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: 'refused', cause: refused });
    expect(error).not.toHaveProperty('detail');
  },
);
