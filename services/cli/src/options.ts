import { openWideJsonReader, type WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { openInput, type InputSurroundings } from './input.ts';

/** One content is 64 MiB at the most; its JSON may be six times as long. */
export const MAX_STDIN = 400 * 1024 * 1024;

/** The argument of most commands. */
export const HISTORY = ['<history>', 'a history or branch, by id or name'] as const;

/** An option that was given as a text, or undefined. */
export const text = (options: Readonly<Record<string, unknown>>, name: string): string | undefined => {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
};

/** An option that must be a whole number within bounds. @throws E_USAGE */
export const whole = (
  options: Readonly<Record<string, unknown>>,
  name: string,
  { least: min = Number.MIN_SAFE_INTEGER, most: max = Number.MAX_SAFE_INTEGER } = {},
): number | undefined => {
  const value = text(options, name);
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!/^-?\d+$/.test(value) || !Number.isSafeInteger(number) || number < min || number > max)
    throw fail(
      'E_USAGE',
      `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} must be a whole number${min > Number.MIN_SAFE_INTEGER ? ` from ${min}` : ''}${max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ''}, not ${JSON.stringify(value)}`,
    );
  return number;
};

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** An option that must be a time in UTC, or how long ago it was; in milliseconds since 1970. @throws E_USAGE */
export const pastTime = (options: Readonly<Record<string, unknown>>, name: string): number | undefined => {
  const value = text(options, name);
  if (value === undefined) return undefined;
  const ago = /^(\d{1,6})([mhd])$/.exec(value);
  if (ago !== null) return Date.now() - Number(ago[1]) * UNITS[ago[2] as keyof typeof UNITS];
  const at = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(at))
    throw fail(
      'E_USAGE',
      `--${name} must be a day (2026-11-20), a time in UTC (2026-11-20T10:00:00Z), or how long ago (90m, 24h, 7d), not ${JSON.stringify(value)}`,
    );
  return at;
};

/** An argument that commander has checked to be there. */
export const required = (value: string | readonly string[] | undefined): string => {
  if (typeof value !== 'string') throw fail('E_USAGE', 'an argument is missing');
  return value;
};

/** A file or pipe as text, `-` being stdin. @throws E_INPUT_ENCODING, E_INPUT_TOO_LARGE above `max` bytes, E_IO */
export const readText = async (around: InputSurroundings, path: string, max: number): Promise<string> => {
  const what = path === '-' ? 'stdin' : path;
  const { read } = openInput(path, around);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of read()) {
    size += chunk.length;
    if (size > max) throw fail('E_INPUT_TOO_LARGE', `${what} has more than ${max} bytes`);
    chunks.push(chunk);
  }
  return decodeUtf8(Buffer.concat(chunks), what);
};

/**
 * A JSON file or pipe, `-` being stdin, read as it comes: a fault ends the reading, and a signal is noticed.
 *
 * @param seen is given the bytes as they come
 * @throws E_INPUT_ENCODING, E_INPUT_TOO_LARGE above `max` bytes, E_IO, and what is wrong with the JSON
 */
export const readJsonInput = async (
  around: InputSurroundings,
  path: string,
  max: number,
  what: string,
  seen: (bytes: Uint8Array) => void = () => undefined,
): Promise<WideJson> => {
  const reader = openWideJsonReader(what);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const write = (bytes?: Uint8Array): void => {
    let text: string;
    try {
      text = bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch {
      throw fail('E_INPUT_ENCODING', `${what} is not UTF-8 text`);
    }
    reader.write(text);
  };
  let size = 0;
  for await (const chunk of openInput(path, around).read()) {
    size += chunk.length;
    if (size > max) throw fail('E_INPUT_TOO_LARGE', `${what} has more than ${max} bytes`);
    seen(chunk);
    write(chunk);
  }
  write();
  return reader.end() as WideJson;
};

/** As {@link readJsonInput}, with the SHA-256 of the bytes in hexadecimal digits. */
export const readHashedJson = async (
  around: InputSurroundings,
  path: string,
  max: number,
  what: string,
): Promise<{ readonly value: WideJson; readonly sha256: string }> => {
  const hash = createHash('sha256');
  const value = await readJsonInput(around, path, max, what, (bytes) => hash.update(bytes));
  return { value, sha256: hash.digest('hex') };
};

const decodeUtf8 = (bytes: Buffer, what: string): string => {
  if (!isUtf8(bytes)) throw fail('E_INPUT_ENCODING', `${what} is not UTF-8 text`);
  return bytes.toString('utf8');
};
