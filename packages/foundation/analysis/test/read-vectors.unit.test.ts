import fc from 'fast-check';
import { expect, test } from 'vitest';
import { embedTexts, npyBytes, readNpy, readVectors, vectorsFrom } from '../src/index.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const rows = vectorsFrom([
  [1, -0.5],
  [2, 4],
]);

/** A .npy file with the given header. */
const npy = (header: string, data: ArrayBuffer, version = 1): Uint8Array => {
  const size = version === 1 ? 2 : 4;
  const text = bytesOf(header);
  const file = new Uint8Array(8 + size + text.length + data.byteLength);
  file.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0]);
  const view = new DataView(file.buffer);
  if (size === 2) view.setUint16(8, text.length, true);
  else view.setUint32(8, text.length, true);
  file.set(text, 8 + size);
  file.set(new Uint8Array(data), 8 + size + text.length);
  return file;
};
const header = (type: string, shape: string, order = 'False'): string =>
  `{'descr': '${type}', 'fortran_order': ${order}, 'shape': ${shape}, }\n`;

test.each([1, 2, 3])('a .npy file of version %i is read', (version) => {
  const file = npy(header('<f8', '(2, 2)'), Float64Array.of(1, -0.5, 2, 4).buffer, version);
  expect(readNpy(file)).toEqual(rows);
});

test.each([
  ['<f4', Float32Array.of(1, -0.5, 2, 4).buffer],
  ['<f2', Uint16Array.of(0x3c00, 0xb800, 0x4000, 0x4400).buffer],
])('numbers of type %s are read', (type, data) => {
  expect(readNpy(npy(header(type, '(2, 2)'), data))).toEqual(rows);
});

test('small and subnormal numbers of half precision are read', () => {
  const data = Uint16Array.of(0x0001, 0x8400, 0x7bff).buffer;
  expect([...readNpy(npy(header('<f2', '(1, 3)'), data)).values]).toEqual([2 ** -24, -(2 ** -14), 65504]);
});

test('one row or one column may be in Fortran order: it is the same', () => {
  const data = Float64Array.of(1, 2).buffer;
  expect(readNpy(npy(header('<f8', '(2, 1)', 'True'), data))).toEqual(vectorsFrom([[1], [2]]));
});

test('what is written as .npy is read again, and begins at a multiple of 64 bytes', () => {
  expect(readNpy(npyBytes(rows))).toEqual(rows);
  expect((npyBytes(rows).length - 32) % 64).toBe(0);
});

const four = Float64Array.of(1, 2, 3, 4).buffer;
test.each([
  ['a text', bytesOf('hello'), 'does not begin with'],
  ['version 4', npy(header('<f8', '(2, 2)'), four, 4), 'version 4'],
  ['an end in the header', npyBytes(rows).slice(0, 40), 'ends in its header'],
  ['an end before the header', npyBytes(rows).slice(0, 9), 'ends in its header'],
  ['an endless header', npy(' '.repeat(20_000), four, 2), 'a header of 20000 bytes'],
  ['another header', npy("{'descr': [('a', '<f8')]}", four), 'cannot be read'],
  ['big-endian numbers', npy(header('>f8', '(2, 2)'), four), 'of the type >f8'],
  ['objects', npy(header('|O', '(2, 2)'), four), 'of the type |O'],
  ['Fortran order', npy(header('<f8', '(2, 2)', 'True'), four), 'Fortran order'],
  ['one dimension', npy(header('<f8', '(4,)'), four), '1 dimensions'],
  ['three dimensions', npy(header('<f8', '(1, 2, 2)'), four), '3 dimensions'],
  ['too few bytes', npy(header('<f8', '(3, 2)'), four), '48 bytes, and holds 32'],
  ['too many bytes', npy(header('<f8', '(1, 2)'), four), '16 bytes, and holds 32'],
  ['a huge shape', npy(header('<f8', '(99999999999, 99999999999)'), four), 'announces'],
  ['no rows', npy(header('<f8', '(0, 2)'), new ArrayBuffer()), 'there are no vectors'],
  ['no columns', npy(header('<f8', '(2, 0)'), new ArrayBuffer()), 'dimension is 0'],
  [
    'NaN',
    npy(header('<f8', '(2, 2)'), Float64Array.of(1, 2, 3, NaN).buffer),
    'row 2 holds NaN (number 2 of 2)',
  ],
  ['Infinity', npy(header('<f2', '(1, 1)'), Uint16Array.of(0xfc00).buffer), 'row 1 holds -Infinity'],
])('a .npy file with %s is refused', (_what, file, message) => {
  expect(() => readNpy(file)).toThrow(
    expect.objectContaining({ code: 'E_VECTORS', message: expect.stringContaining(message) as string }),
  );
});

test('whatever bytes a .npy file is cut or changed to, it is read or refused with a code', () => {
  const whole = npyBytes(rows);
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length), (at, byte, length) => {
      const file = whole.slice(0, length);
      if (at < file.length) file[at] = byte;
      try {
        readVectors(file);
      } catch (error) {
        expect(error).toMatchObject({ code: 'E_VECTORS' });
      }
    }),
  );
});

const two = { vectors: rows, texts: null, rounds: null, isEmbedded: false };
test.each([
  ['.npy', npyBytes(rows), two],
  ['JSON', bytesOf('[[1, -0.5],\n [2, 4]]'), two],
  ['JSON on one line', bytesOf('[[1,-0.5],[2,4]]'), two],
  ['JSON Lines', bytesOf('[1, -0.5]\n\n[2, 4]\n'), two],
  ['CSV', bytesOf('1,-0.5\r\n2,4e0\r\n'), two],
  ['CSV with names', bytesOf('x;y\n1;-.5\n2;+4.'), two],
  ['CSV with quoted cells', bytesOf('"x","y"\n"1","-0.5"\r\n 2 ,"4"'), two],
  ['CSV with a byte order mark and blank lines', bytesOf('\ufeff\n1,-0.5\n \n2,4\n\n'), two],
  ['CSV with tabs', bytesOf('1\t-0.5\n2\t4'), two],
  ['one vector', bytesOf('[1, 2]'), { ...two, vectors: vectorsFrom([[1, 2]]) }],
  [
    'objects',
    bytesOf('{"text":"a","vector":[1,-0.5],"round":3}\n{"text":"b","embedding":[2,4],"round":4,"x":1}'),
    { ...two, texts: ['a', 'b'], rounds: [3, 4] },
  ],
  [
    'texts',
    bytesOf('[{"text":"one"},\n{"text":"two","vector":null}]'),
    { vectors: embedTexts(['one', 'two']), texts: ['one', 'two'], rounds: null, isEmbedded: true },
  ],
  [
    'texts alone',
    bytesOf('["one",\n"two"]'),
    { ...two, vectors: embedTexts(['one', 'two']), texts: ['one', 'two'], isEmbedded: true },
  ],
])('vectors are read from %s', (_format, file, expected) => {
  expect(readVectors(file)).toEqual(expected);
});

test.each([
  ['', 'the file is empty'],
  ['[]', 'there are no vectors'],
  ['[[1,2],[1]]', 'row 2 has 1 numbers, row 1 has 2'],
  ['[[1,2],[1,"2"]]', 'row 2 holds "2", which is not a number'],
  ['[[1,2],[1,null]]', 'row 2 holds null, which is not a number'],
  ['[[1,1e999]]', 'row 1 holds Infinity'],
  ['[[1,1e200]]', 'row 1 holds 1e+200, which is too large'],
  ['[1,2]\n{"a"', 'line 2 is not JSON'],
  ['[[1,2],\n[3', 'neither JSON nor JSON Lines'],
  ['[[1,2],\n 3]', 'row 2 is neither a vector nor an object'],
  ['{"vector":[1]}\n{"text":"a"}', 'row 2 has no vector, row 1 has one'],
  ['{"vector":[1],"text":"a"}\n{"vector":[1]}', 'row 2 has no text, row 1 has one'],
  ['{"text":1}', 'the text of row 1 is not a text'],
  ['{"text":"a","round":1.5}', 'the round of row 1 is not a whole number'],
  ['{"vector":3}', 'the vector of row 1 is not a list'],
  ['{"a":1}', 'the rows have neither vectors nor texts'],
  ['1,2\n3,x', 'line 2 holds "x" in column 2'],
  ['1,2\n3,', 'line 2 holds nothing in column 2'],
  ['1,2\n3', 'row 2 has 1 numbers, row 1 has 2'],
  ['1,NaN', 'line 1 holds "NaN" in column 2'],
  ['a,b', 'there are no vectors'],
  [';1\n2;', 'line 1 holds nothing in column 1'],
  ['1,"2\n3', 'the file is not CSV: Quote Not Closed'],
  ['1,2"3', 'the file is not CSV: Invalid Opening Quote'],
  ['1\t2\n\n\n3\tx', 'line 4 holds "x" in column 2'],
  ['1\n""\n2', 'line 2 holds nothing in column 1'],
  ['1\t2\n""\t""', 'line 2 holds nothing in column 1'],
  ['1,2\n3,4\r5\n6,7\n', String.raw`line 2 holds "4\r5" in column 2`],
  ['1,2\r\n\r3,4\r\n5,x', 'line 3 holds "x" in column 2'],
  ['1,"2\n"\n3,x', 'line 3 holds "x" in column 2'],
])('%j is refused', (text, message) => {
  expect(() => readVectors(bytesOf(text))).toThrow(
    expect.objectContaining({ code: 'E_VECTORS', message: expect.stringContaining(message) as string }),
  );
});

test('bytes that are no text are refused', () => {
  expect(() => readVectors(Uint8Array.of(1, 255, 254))).toThrow(
    expect.objectContaining({ code: 'E_VECTORS' }),
  );
});
