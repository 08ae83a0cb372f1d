import { fail } from '@stemma/errors';
import { addSha1Block, SHA1_START } from './sha1.ts';
import { addSha256Block, SHA256_START } from './sha256.ts';

/**
 * The state of a hash after some text, as a plain value: a row can keep it and a later process continue from it, and
 * two continuations of one state do not affect each other. Its texts are ASCII.
 */
export type HashState = {
  readonly algorithm: 'sha256' | 'sha1';
  readonly words: readonly number[];
  /** The bytes that do not fill a block of 64 yet. */
  readonly tail: string;
  /** Bytes so far, including the tail. */
  readonly length: number;
};

const BLOCK = 64;

export const startHash = (algorithm: HashState['algorithm']): HashState => ({
  algorithm,
  words: algorithm === 'sha256' ? SHA256_START : SHA1_START,
  tail: '',
  length: 0,
});

/** The state after a further text. @throws E_INTERNAL for a text that is not ASCII. */
export const addText = (state: HashState, text: string): HashState => {
  const bytes = Buffer.from(state.tail + text, 'latin1');
  if (bytes.length !== state.tail.length + text.length)
    throw fail('E_INTERNAL', 'a hashed text is not ASCII');
  const whole = bytes.length - (bytes.length % BLOCK);
  return {
    ...state,
    words: addBlocks(state, bytes, whole),
    tail: bytes.toString('latin1', whole),
    length: state.length + text.length,
  };
};

/** The hash of all texts so far, in lower-case hex. The state does not change. */
export const endHash = (state: HashState): string => {
  const end = Buffer.alloc(state.tail.length < BLOCK - 8 ? BLOCK : 2 * BLOCK);
  end.write(state.tail, 'latin1');
  end[state.tail.length] = 0x80;
  end.writeBigUInt64BE(BigInt(state.length) * 8n, end.length - 8);
  return addBlocks(state, end, end.length)
    .map((word) => (word >>> 0).toString(16).padStart(8, '0'))
    .join('');
};

const addBlocks = (state: HashState, bytes: Buffer, end: number): readonly number[] => {
  if (end === 0) return state.words;
  const words = Int32Array.from(state.words);
  const add = state.algorithm === 'sha256' ? addSha256Block : addSha1Block;
  for (let at = 0; at < end; at += BLOCK) add(words, bytes, at);
  return Array.from(words);
};
