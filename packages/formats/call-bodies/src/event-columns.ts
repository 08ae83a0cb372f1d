import { readVarint } from '@stemma/canonical';
/*
 * The bytes of an event stream, sorted so that they compress well:
 *
 *   data: {"id":"c-1","delta":{"content":"Hel"}}\n\n        shape 0   data: {"id":"·","delta":{"content":"·"}}\n\n
 *   data: {"id":"c-1","delta":{"content":"lo"}}\n\n         events    0 0
 *                                                           changed   1 1, 0 1
 *                                                           values    of hole 0 "c-1"; of hole 1 "Hel" "lo"
 *
 * A shape is an event without the values of its texts and numbers. Of each hole only values are kept that differ from the one
 * before, so what a model says stands together, and a number that counts on is said in one byte.
 *
 *   columns = count shapes  {length shape}  count events  {shape}  {change of each hole}  {length of each value}  {value}
 */

/** Numbers before the values are varints: seven bits a byte, the lowest first. */
const MORE = 0x80;
/** The most bytes of such a number. */
const LONGEST = 7;

/** How the value of a hole is found: as in the event before of its shape, written out, or the number before plus one. */
const SAME = 0;
const WRITTEN = 1;
const NEXT = 2;

/** Names of fields; texts; numbers. */
const TOKENS = /("(?:[^"\\]|\\.)*"\s*:)|"((?:[^"\\]|\\.)*)"|(?<![\w.+-])(-?\d[\d.eE+-]*)(?!\w)/g;

/** In a shape, where values stand: no character of Latin-1. */
const HOLE = '\u0100';

type Shape = { readonly index: number; readonly values: string[]; readonly written: string[][] };

/** An event, in Latin-1: its shape, and the values of the holes. */
const split = (event: string): { readonly shape: string; readonly values: readonly string[] } => {
  const values: string[] = [];
  const shape = event.replace(TOKENS, (whole, name?: string, text?: string, number?: string) => {
    if (name !== undefined) return whole;
    values.push(text ?? number ?? '');
    return text === undefined ? HOLE : `"${HOLE}"`;
  });
  return { shape, values };
};

/** The columns of a stream; undefined if it would be no use: few events, or all different. */
export const toColumns = (bytes: Uint8Array): Uint8Array | undefined => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const events = text.split(/(?<=\n\n|\r\n\r\n)/);
  const shapes = new Map<string, Shape>();
  const order: number[] = [];
  const changes: number[] = [];
  const lengths: number[] = [];
  for (const event of events) {
    const { shape: name, values } = split(event);
    let shape = shapes.get(name);
    if (shape === undefined) {
      shape = { index: shapes.size, values: values.map(() => ''), written: values.map(() => []) };
      shapes.set(name, shape);
    }
    order.push(shape.index);
    for (const [hole, value] of values.entries()) {
      const before = shape.values[hole] ?? '';
      shape.values[hole] = value;
      const change = value === before ? SAME : value === following(before) ? NEXT : WRITTEN;
      changes.push(change);
      if (change !== WRITTEN) continue;
      lengths.push(value.length);
      shape.written[hole]?.push(value);
    }
  }
  if (events.length < 2 * shapes.size) return undefined;
  const names = [...shapes.keys()].map((name) => Buffer.from(name.replaceAll(HOLE, '\0'), 'latin1'));
  if ([...shapes.keys()].some((name) => name.includes('\0'))) return undefined;
  return Buffer.concat([
    numbers([names.length, ...names.map(({ length }) => length)]),
    ...names,
    numbers([order.length, ...order, ...changes, ...lengths]),
    ...[...shapes.values()].flatMap(({ written }) =>
      written.map((values) => Buffer.from(values.join(''), 'latin1')),
    ),
  ]);
};

/** The number after a number, as people write it; no other text has one. */
const following = (value: string): string | undefined =>
  /^(0|[1-9]\d{0,14})$/.test(value) ? String(Number(value) + 1) : undefined;

/**
 * The stream again.
 *
 * @param size its bytes: no more are made
 * @throws RangeError if the columns are damaged
 */
export const fromColumns = (columns: Uint8Array, size: number): Uint8Array => {
  const reader = openReader(columns);
  const names = reader.list(reader.number()).map((length) => reader.text(length));
  const shapes = names.map((name) => ({ parts: name.split('\0'), values: [] as string[] }));
  const order = reader.list(reader.number());
  const changes = order.map((index) => reader.list((shapes[index]?.parts.length ?? damaged()) - 1));
  /** The lengths come in the order of the events, the values in that of the shapes and holes. */
  const lengths = new Map<string, number[]>();
  for (const [i, index] of order.entries())
    for (const [hole, change] of (changes[i] ?? []).entries()) {
      if (change !== WRITTEN) continue;
      const key = `${index} ${hole}`;
      const known = lengths.get(key);
      if (known === undefined) lengths.set(key, [reader.number()]);
      else known.push(reader.number());
    }
  const values = new Map<string, string[]>();
  for (const [index, { parts }] of shapes.entries())
    for (let hole = 0; hole < parts.length - 1; hole++) {
      const key = `${index} ${hole}`;
      values.set(key, (lengths.get(key) ?? []).map((length) => reader.text(length)).reverse());
    }
  const pieces: string[] = [];
  let made = 0;
  for (const [i, index] of order.entries()) {
    const { parts, values: known } = shapes[index] ?? damaged();
    for (const [hole, change] of (changes[i] ?? []).entries()) {
      const before = known[hole] ?? '';
      const value =
        change === SAME
          ? before
          : change === NEXT
            ? (following(before) ?? damaged())
            : (values.get(`${index} ${hole}`)?.pop() ?? damaged());
      known[hole] = value;
    }
    const event = parts.map((part, hole) => part + (known[hole] ?? '')).join('');
    made += event.length;
    if (made > size) damaged();
    pieces.push(event);
  }
  if (!reader.isAtEnd()) damaged();
  return Buffer.from(pieces.join(''), 'latin1');
};

const damaged = (): never => {
  throw new RangeError('the columns of a stream are damaged');
};

const numbers = (values: readonly number[]): Buffer => {
  const bytes: number[] = [];
  for (const value of values) {
    let rest = value;
    for (; rest >= MORE; rest = Math.floor(rest / MORE)) bytes.push((rest % MORE) + MORE);
    bytes.push(rest);
  }
  return Buffer.from(bytes);
};

const openReader = (bytes: Uint8Array) => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const cursor = { at: 0 };
  const number = (): number => readVarint(buffer, cursor, LONGEST) ?? damaged();
  return {
    number,
    list: (length: number): number[] => {
      if (length > buffer.length - cursor.at) damaged();
      return Array.from({ length }, number);
    },
    text: (length: number): string => {
      if (length > buffer.length - cursor.at) damaged();
      cursor.at += length;
      return buffer.toString('latin1', cursor.at - length, cursor.at);
    },
    isAtEnd: (): boolean => cursor.at === buffer.length,
  };
};
