import { EventStreamCodec } from '@smithy/eventstream-codec';
import { joinBytes } from '@stemma/canonical';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { awsMessage, awsMessages } from '../src/index.ts';

const codec = new EventStreamCodec(
  (input) => (typeof input === 'string' ? input : Buffer.from(input).toString()),
  (input) => Buffer.from(input),
);

const name = fc.stringMatching(/^[a-z:-]{1,12}$/);
const message = fc.record(
  {
    headers: fc.dictionary(name, fc.string({ maxLength: 9, unit: 'binary' }), {
      noNullPrototype: true,
      maxKeys: 4,
    }),
    payload: fc.uint8Array({ maxLength: 40 }),
  },
  { noNullPrototype: true },
);
const plain = (bytes: Uint8Array): readonly number[] => [...bytes];

describe('messages of an event stream of AWS', () => {
  test('are read and written as by AWS’s own library', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 4 }), (messages) => {
        const theirs = joinBytes(
          messages.map(({ headers, payload }) =>
            codec.encode({
              headers: Object.fromEntries(
                Object.entries(headers).map(([key, value]) => [key, { type: 'string', value }]),
              ),
              body: payload,
            }),
          ),
        );
        expect(plain(joinBytes(messages.map(awsMessage)))).toEqual(plain(theirs));
        const read = [...awsMessages(theirs)].map(({ headers, payload }) => ({
          headers,
          payload: plain(payload),
        }));
        expect(read).toEqual(messages.map(({ headers, payload }) => ({ headers, payload: plain(payload) })));
      }),
    );
  });

  test('that have headers of all types are read', () => {
    const bytes = codec.encode({
      headers: {
        yes: { type: 'boolean', value: true },
        ':event-type': { type: 'string', value: 'chunk' },
        small: { type: 'byte', value: 7 },
        short: { type: 'short', value: 300 },
        number: { type: 'integer', value: 70_000 },
        raw: { type: 'binary', value: new Uint8Array([1, 2]) },
        time: { type: 'timestamp', value: new Date(0) },
        id: { type: 'uuid', value: '01234567-89ab-cdef-0123-456789abcdef' },
        last: { type: 'string', value: 'z' },
      },
      body: new Uint8Array([9]),
    });
    expect([...awsMessages(bytes)].map(({ headers }) => headers)).toEqual([
      { ':event-type': 'chunk', last: 'z' },
    ]);
  });

  test('of which one is damaged are read up to that one', () => {
    const one = awsMessage({ headers: { a: 'b' }, payload: new Uint8Array([1, 2, 3]) });
    const two = one.slice();
    two[two.length - 6] = (two.at(-6) as number) ^ 1;
    const read: unknown[] = [];
    expect(() => {
      for (const each of awsMessages(joinBytes([one, two]))) read.push(each);
    }).toThrow('the event at byte 25 has a wrong checksum');
    expect(read).toHaveLength(1);
  });

  test('of which the last is cut off are read without that one', () => {
    const one = awsMessage({ headers: { a: 'b' }, payload: new Uint8Array([1, 2, 3]) });
    for (let end = one.length; end < 2 * one.length; end++)
      expect([...awsMessages(joinBytes([one, one]).subarray(0, end))]).toHaveLength(1);
  });
});
