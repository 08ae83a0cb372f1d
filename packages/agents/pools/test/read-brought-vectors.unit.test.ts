import { npyBytes, vectorsFrom } from '@stemma/analysis';
import { expect, test } from 'vitest';
import { readBroughtVectors } from '../src/index.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const NPY = npyBytes(
  vectorsFrom([
    [1, 2],
    [3, 4],
  ]),
  '<f8',
);
const HASH = '0f'.repeat(32);

test('a .npy file names its messages by their numbers, or by what a second file names', () => {
  const [one, two] = [Float32Array.of(1, 2), Float32Array.of(3, 4)];
  expect(readBroughtVectors(NPY)).toEqual([
    { vector: one, vectorId: 0 },
    { vector: two, vectorId: 1 },
  ]);
  for (const ids of [`["n1", "${HASH}"]`, `"n1"\n"${HASH}"\n`])
    expect(readBroughtVectors(NPY, encode(ids))).toEqual([
      { vector: one, message: 'n1' },
      { vector: two, textHash: HASH },
    ]);
  expect(readBroughtVectors(NPY, encode('[7, 5]'))).toMatchObject([{ vectorId: 7 }, { vectorId: 5 }]);
});

test('each line names whose its vector is', () => {
  const lines = [
    '{"vector":[1],"message":"n1"}',
    '',
    `{"embedding":[2],"text_hash":"${HASH}"}`,
    '{"vector":[3],"vector_id":4,"more":1}',
    '{"vector":[0.1],"text":""}',
  ];
  expect(readBroughtVectors(encode(lines.join('\r\n')))).toEqual([
    { vector: Float32Array.of(1), message: 'n1' },
    { vector: Float32Array.of(2), textHash: HASH },
    { vector: Float32Array.of(3), vectorId: 4 },
    { vector: Float32Array.of(0.1), text: '' },
  ]);
});

test.each([
  ['nothing', ''],
  ['no JSON', '{"vector":[1'],
  ['NaN', '{"vector":[NaN],"vector_id":1}'],
  ['a list', '[1,2]'],
  ['no vector', '{"vector_id":1}'],
  ['an empty vector', '{"vector":[],"vector_id":1}'],
  ['null for a number', '{"vector":[null],"vector_id":1}'],
  ['a text for a number', '{"vector":["1"],"vector_id":1}'],
  ['a number beyond single precision', '{"vector":[1e39],"vector_id":1}'],
  ['a number beyond double precision', '{"vector":[-1e999],"vector_id":1}'],
  ['nobody named', '{"vector":[1]}'],
  ['two named', '{"vector":[1],"vector_id":1,"text":"a"}'],
  ['a negative number', '{"vector":[1],"vector_id":-1}'],
  ['half a number', '{"vector":[1],"vector_id":0.5}'],
  ['a hash for a number', `{"vector":[1],"vector_id":"${HASH}"}`],
  ['a hash that is none', '{"vector":[1],"text_hash":"xyz"}'],
  ['a message that is none', '{"vector":[1],"message":7}'],
  ['a text that is none', '{"vector":[1],"text":7}'],
  ['two dimensions', '{"vector":[1],"vector_id":1}\n{"vector":[1,2],"vector_id":2}'],
  ['a prototype for a name', '{"vector":[1],"__proto__":{"text":"a"}}'],
])('a file with %s is refused', (_what, text) => {
  expect(() => readBroughtVectors(encode(text))).toThrow(
    expect.objectContaining({ code: 'E_VECTORS' }) as Error,
  );
});

test.each([
  ['fewer ids than rows', '[1]'],
  ['more ids than rows', '[1,2,3]'],
  ['an id that is none', '[1,null]'],
  ['ids that are no JSON', '[1,2'],
])('a .npy file with %s is refused', (_what, ids) => {
  expect(() => readBroughtVectors(NPY, encode(ids))).toThrow(
    expect.objectContaining({ code: 'E_VECTORS' }) as Error,
  );
});

test('ids belong to a .npy file', () => {
  expect(() => readBroughtVectors(encode('{"vector":[1],"vector_id":1}'), encode('[1]'))).toThrow(
    expect.objectContaining({ code: 'E_VECTORS' }) as Error,
  );
});

test('bytes that are no text, and a .npy file that is cut off, are refused', () => {
  for (const bytes of [Uint8Array.of(0xff, 0xfe, 0x7b), NPY.subarray(0, NPY.length - 1)])
    expect(() => readBroughtVectors(bytes)).toThrow(expect.objectContaining({ code: 'E_VECTORS' }) as Error);
});
