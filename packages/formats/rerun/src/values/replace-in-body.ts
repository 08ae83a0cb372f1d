import { framingOfAnswer, type ModelApi } from '@stemma/model-apis';
import type { Replacements } from './bindings.ts';
import { replaceInJson } from './json-literals.ts';
import { replaceInStream } from './replace-in-stream.ts';

/**
 * The body of a served answer with the values of now in it. Of JSON every other byte stays; of a stream its events stay what they
 * are, and a value that was cut over several is cut over the same ones. What is signed or encrypted stays, and so does a body
 * that is no JSON, or not UTF-8.
 *
 * @param bytes the body without a content coding
 */
export const replaceInBody = (
  api: ModelApi,
  contentType: string | null,
  bytes: Uint8Array,
  replacements: Replacements,
): Uint8Array => {
  if (replacements.isEmpty) return bytes;
  const framing = framingOfAnswer(api, contentType, bytes);
  if (framing !== null && framing !== 'list') return replaceInStream(api, framing, bytes, replacements);
  const text = textOf(bytes);
  if (text === null || !/^\s*[[{]/.test(text)) return bytes;
  const replaced = replaceInJson(text, replacements);
  return replaced === text ? bytes : new TextEncoder().encode(replaced);
};

/** Null: it is not UTF-8. */
const textOf = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
};
