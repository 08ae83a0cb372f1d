import { expect, it } from 'vitest';
import { readTopicId } from '../src/protocol/metadata-request.ts';

const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length + 1]), Buffer.from(value)]);
const id = Buffer.from('0123456789abcdef');

/** An answer of two brokers about one topic, as version 10 of the request has it. */
const answer = ({ error = 0, topics = 1 } = {}): Buffer =>
  Buffer.concat([
    Buffer.alloc(5),
    Buffer.from([3]),
    ...[1, 2].map((node) =>
      Buffer.concat([Buffer.from([0, 0, 0, node]), text('127.0.0.1'), Buffer.alloc(4), Buffer.from([0, 0])]),
    ),
    text('a-cluster'),
    Buffer.alloc(4),
    Buffer.from([topics + 1, 0, error]),
    text('some.frames'),
    id,
  ]);

it('the id of a topic is read from behind brokers of any number and names of any length', () => {
  expect(readTopicId(answer())).toBe(id.toString('base64url'));
});

it.each([
  ['an error', answer({ error: 3 }), 'error 3'],
  ['no topic', answer({ topics: 0 }), 'left the topic out'],
])('an answer with %s gives no id', (_what, bytes, message) => {
  expect(() => readTopicId(bytes)).toThrow(message);
});
