import { fail } from '@stemma/errors';
import { readFile } from 'node:fs/promises';

/** An option that was given as a text, or undefined. */
export const text = (options: Readonly<Record<string, unknown>>, name: string): string | undefined => {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
};

/** An option that must be a whole number within bounds. @throws E_USAGE */
export const whole = (
  options: Readonly<Record<string, unknown>>,
  name: string,
  { least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER } = {},
): number | undefined => {
  const value = text(options, name);
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!/^-?\d+$/.test(value) || !Number.isSafeInteger(number) || number < least || number > most)
    throw fail(
      'E_USAGE',
      `--${name} takes a whole number${least === 0 ? ' from 0' : ''}, not ${JSON.stringify(value)}`,
    );
  return number;
};

/** An argument that commander has checked to be there. */
export const required = (value: string | readonly string[] | undefined): string => {
  if (typeof value !== 'string') throw fail('E_USAGE', 'an argument is missing');
  return value;
};

/** All of stdin as text. @throws E_INPUT_NOT_JSON when it is not UTF-8, E_INPUT_TOO_LARGE above `most` bytes. */
export const readStdin = async (most: number): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > most) throw fail('E_INPUT_TOO_LARGE', `stdin holds more than ${most} bytes`);
    chunks.push(bytes);
  }
  return decodeUtf8(Buffer.concat(chunks), 'stdin');
};

/** A file as text, `-` being stdin. */
export const readText = async (path: string, most: number): Promise<string> =>
  path === '-' ? readStdin(most) : decodeUtf8(await readFile(path), path);

const decodeUtf8 = (bytes: Buffer, what: string): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw fail(
      'E_INPUT_NOT_JSON',
      `${what} is not UTF-8 text${cause instanceof RangeError ? ' of a size that fits' : ''}`,
    );
  }
};
