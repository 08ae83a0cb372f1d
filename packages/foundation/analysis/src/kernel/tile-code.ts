import {
  constant,
  f32x4,
  f64,
  f64x2,
  get,
  i32,
  load128,
  loop,
  moduleOf,
  repeatIf,
  set,
  storeF64,
  tee,
  TYPE,
  type Code,
} from './wasm-code.ts';

/**
 * What is summed up over two rows: products of single precision, or squares of differences of double precision. The relaxed
 * products may differ in their last bits between machines.
 */
export type Sum = 'f32-product' | 'f32-relaxed-product' | 'f64-squared-difference';

/** So many rows of one side meet so many of the other in one run: their sums stay in registers. */
export const TILE = { rows: 6, columns: 2 } as const;

/** The bytes of one step: 4 numbers of 4 bytes, or 2 of 8. */
export const STEP = 16;

type SumCode = {
  /** Adds the term of two values to a sum. */
  readonly add: (sum: number, a: number, b: number, spare: number) => Code;
  /** The sum over the numbers of a vector, as one of double precision. */
  readonly total: (sum: number) => Code;
};

const totalOfF32 = (sum: number): Code =>
  [0, 1, 2, 3].flatMap((i) => [
    ...[...get(sum), ...f32x4.extract(i), ...f64.fromF32],
    ...(i === 0 ? [] : f64.add),
  ]);

const SUMS: Readonly<Record<Sum, SumCode>> = {
  'f32-product': {
    add: (sum, a, b) => [...get(sum), ...get(a), ...get(b), ...f32x4.multiply, ...f32x4.add],
    total: totalOfF32,
  },
  'f32-relaxed-product': {
    add: (sum, a, b) => [...get(a), ...get(b), ...get(sum), ...f32x4.relaxedMultiplyAdd],
    total: totalOfF32,
  },
  'f64-squared-difference': {
    add: (sum, a, b, spare) => [
      ...[...get(sum), ...get(a), ...get(b), ...f64x2.subtract],
      ...[...tee(spare), ...get(spare), ...f64x2.multiply, ...f64x2.add],
    ],
    total: (sum) => [...get(sum), ...f64x2.extract(0), ...get(sum), ...f64x2.extract(1), ...f64.add],
  },
};

/**
 * A module whose `run(a, b, bytes, out)` sums up over each pair of {@link TILE}.rows rows at `a` and TILE.columns rows at `b`, each
 * `bytes` long, and writes the sums at `out` as numbers of 8 bytes: those of one row side by side, those of the next `pitch`
 * numbers further.
 */
export const tileCode = (kind: Sum, pitch: number): Uint8Array<ArrayBuffer> => {
  const { add, total } = SUMS[kind];
  const [a, b, bytes, out, end] = [0, 1, 2, 3, 4];
  const { rows, columns } = TILE;
  let next = 5;
  const locals = (count: number): readonly number[] => Array.from({ length: count }, () => next++);
  const [aAt, bAt] = [locals(rows), locals(columns)];
  const whole = next - 4;
  const sums = locals(rows * columns);
  const bs = locals(columns);
  const [one = 0, spare = 0] = locals(2);
  const vectors = next - 4 - whole;
  const starts = (from: number, pointers: readonly number[]): Code =>
    pointers.flatMap((pointer, i) => [
      ...get(from),
      ...get(bytes),
      ...constant(i),
      ...i32.multiply,
      ...i32.add,
      ...set(pointer),
    ]);
  const step = (pointer: number): Code => [...get(pointer), ...constant(STEP), ...i32.add];
  const [first = 0, ...others] = aAt;
  const body = [
    ...starts(a, aAt),
    ...starts(b, bAt),
    ...[...get(a), ...get(bytes), ...i32.add, ...set(end)],
    ...loop([
      ...bs.flatMap((value, k) => [...get(bAt[k]!), ...load128(0), ...set(value)]),
      ...aAt.flatMap((pointer, r) => [
        ...[...get(pointer), ...load128(0), ...set(one)],
        ...bs.flatMap((value, k) => {
          const sum = sums[r * columns + k]!;
          return [...add(sum, one, value, spare), ...set(sum)];
        }),
      ]),
      ...[...bAt, ...others].flatMap((pointer) => [...step(pointer), ...set(pointer)]),
      ...[...step(first), ...tee(first), ...get(end), ...i32.isLess, ...repeatIf],
    ]),
    ...sums.flatMap((sum, i) => [
      ...get(out),
      ...total(sum),
      ...storeF64(8 * (Math.floor(i / columns) * pitch + (i % columns))),
    ]),
  ];
  return moduleOf(
    4,
    [
      [whole, TYPE.i32],
      [vectors, TYPE.v128],
    ],
    body,
  );
};
