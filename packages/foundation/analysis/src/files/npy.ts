import { fail } from '@stemma/errors';
import { checkedVectors, type Vectors } from '../vectors.ts';

const MAGIC = '\x93NUMPY';

/** A header is a few dozen characters; numpy refuses more than so many too. */
const MOST_HEADER = 10_000;

/** True if bytes begin as a .npy file does. */
export const isNpy = (bytes: Uint8Array): boolean =>
  bytes.length >= MAGIC.length &&
  Array.from(MAGIC).every((character, i) => bytes[i] === character.charCodeAt(0));

type Header = { readonly type: string; readonly shape: readonly [rows: number, dimension: number] };

/**
 * The vectors of a .npy file (numpy, NEP 1: versions 1, 2 and 3) of two dimensions, in C order: `<f2`, `<f4` or `<f8`. The header must
 * account for every byte.
 *
 * @throws E_VECTORS
 */
export const readNpy = (bytes: Uint8Array): Vectors => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isNpy(bytes)) throw fail('E_VECTORS', 'this is no .npy file: it does not begin with \\x93NUMPY');
  const version = bytes[6] ?? 0;
  if (version < 1 || version > 3)
    throw fail('E_VECTORS', `the .npy file is of version ${version}; versions 1, 2 and 3 can be read`);
  const start = version === 1 ? 10 : 12;
  if (bytes.length < start) throw fail('E_VECTORS', 'the .npy file ends in its header');
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > MOST_HEADER) throw fail('E_VECTORS', `the .npy file announces a header of ${length} bytes`);
  if (bytes.length < start + length) throw fail('E_VECTORS', 'the .npy file ends in its header');
  const { type, shape } = readHeader(new TextDecoder().decode(bytes.subarray(start, start + length)));
  const read = READERS[type];
  if (read === undefined)
    throw fail('E_VECTORS', `the .npy file holds numbers of the type ${type}; <f2, <f4 and <f8 can be read`);
  const [rows, dimension] = shape;
  const expected = rows * dimension * read.size;
  const there = bytes.length - start - length;
  if (expected !== there)
    throw fail(
      'E_VECTORS',
      `the .npy file announces ${rows} × ${dimension} numbers of ${read.size} bytes, ${expected} bytes, and holds ${there}`,
    );
  const values = new Float64Array(rows * dimension);
  for (let i = 0, at = start + length; i < values.length; i++, at += read.size)
    values[i] = read.get(view, at);
  return checkedVectors({ rows, dimension, values });
};

const READERS: Readonly<
  Record<string, { readonly size: number; readonly get: (view: DataView, at: number) => number } | undefined>
> = {
  '<f8': { size: 8, get: (view, at) => view.getFloat64(at, true) },
  '<f4': { size: 4, get: (view, at) => view.getFloat32(at, true) },
  '<f2': { size: 2, get: (view, at) => halfFloat(view.getUint16(at, true)) },
};

/** A number of IEEE 754 half precision. */
const halfFloat = (bits: number): number => {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
};

/** The header is a dictionary as Python prints it; it is read as this and nothing else. */
const HEADER =
  /^\{\s*'descr'\s*:\s*'([^']*)'\s*,\s*'fortran_order'\s*:\s*(True|False)\s*,\s*'shape'\s*:\s*\(([\d\s,]*)\)\s*,?\s*\}\s*$/;

const readHeader = (text: string): Header => {
  const found = HEADER.exec(text);
  if (found === null)
    throw fail('E_VECTORS', `the header of the .npy file cannot be read: ${JSON.stringify(text.trim())}`);
  const [, type = '', order, sizes = ''] = found;
  const shape = sizes
    .split(',')
    .filter((size) => size.trim() !== '')
    .map(Number);
  const [rows, dimension] = shape;
  if (shape.length !== 2 || rows === undefined || dimension === undefined)
    throw fail(
      'E_VECTORS',
      `the .npy file has ${shape.length} dimensions; vectors are rows and columns, so 2`,
    );
  if (!Number.isSafeInteger(rows * dimension * 8))
    throw fail('E_VECTORS', `the .npy file announces ${rows} × ${dimension} numbers`);
  // With one row or column the two orders are the same bytes.
  if (order === 'True' && rows > 1 && dimension > 1)
    throw fail('E_VECTORS', 'the .npy file is in Fortran order: save it with numpy.ascontiguousarray');
  return { type, shape: [rows, dimension] };
};

/** Vectors as a .npy file of version 1, as numpy writes them, in C order. */
export const npyBytes = ({ rows, dimension, values }: Vectors, type: '<f4' | '<f8' = '<f8'): Uint8Array => {
  const size = type === '<f4' ? 4 : 8;
  const header = `{'descr': '${type}', 'fortran_order': False, 'shape': (${rows}, ${dimension}), }`;
  const padded = `${header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11)}\n`;
  const bytes = new Uint8Array(10 + padded.length + values.length * size);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < MAGIC.length; i++) bytes[i] = MAGIC.charCodeAt(i);
  bytes[6] = 1;
  view.setUint16(8, padded.length, true);
  bytes.set(new TextEncoder().encode(padded), 10);
  const start = 10 + padded.length;
  for (const [i, value] of values.entries())
    if (type === '<f4') view.setFloat32(start + i * size, value, true);
    else view.setFloat64(start + i * size, value, true);
  return bytes;
};
