import { expect, test } from 'vitest';
import { openRedactor, secretsInBody } from '../src/index.ts';

const KEY = 'sk-ant-api03-Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7';
const redactor = openRedactor({});
const body = (text: string): string | null => redactor.body(text);
const chunk = (content: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;

test(
  'a key that is cut into the events of a stream is taken out where it begins, and other events keep their bytes',
  { tags: ['calls§2.4'] },
  () => {
    const stream =
      chunk('The key is ') + chunk(KEY.slice(0, 9)) + chunk(`${KEY.slice(9)}. Done`) + 'data: [DONE]\n\n';
    expect(body(stream)).toBe(
      chunk('The key is ') +
        'data: {"choices":[{"delta":{"content":"[redacted:api_key]"},"index":0}]}\n\n' +
        'data: {"choices":[{"delta":{"content":". Done"},"index":0}]}\n\n' +
        'data: [DONE]\n\n',
    );
    expect(secretsInBody(stream)).toEqual(['api_key']);
  },
);

test.each([
  ': hi\r\nevent:x\r\ndata:{"a": 1}\r\n\r\ndata: [DONE]\n\n',
  chunk('sk-') + chunk('nothing'),
  '{"b": 1, "a": "\\u0041"}',
  'data: {"a":"cut o',
])('a body without secrets keeps every byte: %j', { tags: ['calls§2.4'] }, (text) => {
  expect(body(text)).toBe(text);
});
