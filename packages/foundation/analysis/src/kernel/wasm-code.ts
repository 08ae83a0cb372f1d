/*
 * The few WebAssembly instructions that the kernel has, as bytes (WebAssembly Core Specification 2.0, chapter 5: binary
 * format). Vector instructions of two and four numbers compute exactly what IEEE 754 says, on every machine.
 */

export type Code = readonly number[];

/** An unsigned number in LEB128. */
const unsigned = (value: number): Code => {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 128);
  }
};

/** A signed number in LEB128. */
const signed = (value: number): Code => {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7) {
    if (rest >= -64 && rest < 64) return [...bytes, rest & 127];
    bytes.push((rest & 127) | 128);
  }
};

export const TYPE = { i32: 0x7f, v128: 0x7b } as const;

/** A list behind its length. */
const list = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];

export const get = (local: number): Code => [0x20, ...unsigned(local)];
export const set = (local: number): Code => [0x21, ...unsigned(local)];
export const tee = (local: number): Code => [0x22, ...unsigned(local)];
export const constant = (value: number): Code => [0x41, ...signed(value)];
export const i32 = { add: [0x6a], multiply: [0x6c], isLess: [0x49] } as const;
/** A loop, left at its end; `repeatIf` goes back to its first instruction. */
export const loop = (body: Code): Code => [0x03, 0x40, ...body, 0x0b];
export const repeatIf: Code = [0x0d, 0];
const END: Code = [0x0b];

const vector = (opcode: number, ...rest: Code): Code => [0xfd, ...unsigned(opcode), ...rest];
export const load128 = (offset: number): Code => vector(0x00, 4, ...unsigned(offset));
export const f64x2 = {
  add: vector(0xf0),
  subtract: vector(0xf1),
  multiply: vector(0xf2),
  extract: (index: number): Code => vector(0x21, index),
} as const;
export const f32x4 = {
  add: vector(0xe4),
  multiply: vector(0xe6),
  /** a × b + c, rounded once or twice, as the processor is quicker: only for what need not be the same everywhere. */
  relaxedMultiplyAdd: vector(0x105),
  extract: (index: number): Code => vector(0x1f, index),
} as const;
export const f64 = { add: [0xa0], fromF32: [0xbb] } as const;
export const storeF64 = (offset: number): Code => [0x39, 3, ...unsigned(offset)];

const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content];

/** A module with one function `run` of whole numbers, whose memory is given as `host.memory`. */
export const moduleOf = (
  parameters: number,
  locals: readonly (readonly [count: number, type: number])[],
  body: Code,
): Uint8Array<ArrayBuffer> => {
  const name = (text: string): Code => [text.length, ...new TextEncoder().encode(text)];
  const declared = list(locals.map(([count, type]) => [...unsigned(count), type]));
  const code = [...declared, ...body, ...END];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list([[0x60, ...list(Array<Code>(parameters).fill([TYPE.i32])), 0]])),
    ...section(2, list([[...name('host'), ...name('memory'), 2, 0, 1]])),
    ...section(3, list([[0]])),
    ...section(7, list([[...name('run'), 0, 0]])),
    ...section(10, list([[...unsigned(code.length), ...code]])),
  ]);
};
