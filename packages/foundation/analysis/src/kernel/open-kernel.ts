import { STEP, TILE, tileCode, type Sum } from './tile-code.ts';

/** The rows of a block: whole tiles of both sides. Two blocks of 1,536 numbers fit into a processor's cache. */
export const BLOCK = 60;

/** Sums over pairs of rows of two blocks. */
export type Kernel = {
  /** Room for {@link BLOCK} rows of each side, `stride` numbers each; what is not written is 0. */
  readonly a: Float32Array | Float64Array;
  readonly b: Float32Array | Float64Array;
  readonly stride: number;
  /** The sum of row `i` of a and row `k` of b at `i × BLOCK + k`, for at least the given numbers of rows. */
  readonly run: (rowsOfA: number, rowsOfB: number) => Float64Array;
};

/** What this file uses of WebAssembly, which the types of Node.js leave to browsers. */
type Engine = {
  readonly validate: (bytes: Uint8Array<ArrayBuffer>) => boolean;
  readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (
    module: object,
    imports: unknown,
  ) => {
    readonly exports: { readonly run: (a: number, b: number, bytes: number, out: number) => void };
  };
};

const engine = (globalThis as unknown as { readonly WebAssembly: Engine }).WebAssembly;
const PAGE = 65_536;

/** A module for the sum. Where the engine knows no relaxed instructions, the strict ones take their work. */
const moduleFor = (sum: Sum): object => {
  const code = tileCode(sum, BLOCK);
  const isKnown = sum !== 'f32-relaxed-product' || engine.validate(code);
  return new engine.Module(isKnown ? code : tileCode('f32-product', BLOCK));
};

/**
 * A kernel for rows of a dimension. It computes in tiles of registers, as GotoBLAS does (Goto and van de Geijn, "Anatomy of
 * high-performance matrix multiplication", ACM Transactions on Mathematical Software 34, 2008); each sum adds in the same order,
 * whichever rows are beside it, so the same two rows always have the same sum.
 */
export const openKernel = (sum: Sum, dimension: number): Kernel => {
  const size = sum === 'f64-squared-difference' ? 8 : 4;
  const stride = Math.ceil((dimension * size) / STEP) * (STEP / size);
  const bytes = stride * size;
  const side = BLOCK * bytes;
  const memory = new engine.Memory({ initial: Math.ceil((2 * side + BLOCK * BLOCK * 8) / PAGE) });
  const { run } = new engine.Instance(moduleFor(sum), { host: { memory } }).exports;
  const room = (at: number): Float32Array | Float64Array =>
    size === 4
      ? new Float32Array(memory.buffer, at, BLOCK * stride)
      : new Float64Array(memory.buffer, at, BLOCK * stride);
  const sums = new Float64Array(memory.buffer, 2 * side, BLOCK * BLOCK);
  return {
    a: room(0),
    b: room(side),
    stride,
    run(rowsOfA, rowsOfB) {
      for (let i = 0; i < rowsOfA; i += TILE.rows)
        for (let k = 0; k < rowsOfB; k += TILE.columns)
          run(i * bytes, side + k * bytes, bytes, 2 * side + (i * BLOCK + k) * 8);
      return sums;
    },
  };
};
