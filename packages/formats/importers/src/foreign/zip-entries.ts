import { fail } from '@stemma/errors';
import { constants, inflateRawSync, zstdDecompressSync } from 'node:zlib';

/** A file of which any part can be read. */
export type RandomAccess = {
  readonly name: string;
  readonly size: number;
  /** The bytes from `offset` on, `length` of them, fewer where the file ends. */
  readonly read: (offset: number, length: number) => Promise<Uint8Array>;
};

/** An entry of an archive, as the directory at its end has it. */
export type ZipEntry = {
  readonly name: string;
  readonly method: number;
  readonly compressed: number;
  readonly size: number;
  readonly offset: number;
  /** CRC-32 of its bytes without their compression. */
  readonly checksum: number;
  readonly isEncrypted: boolean;
};

/** How the entries of a zip archive begin: `PK`. */
export const ZIP_MAGIC = [0x50, 0x4b, 0x03, 0x04] as const;

const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const DIRECTORY = 0x02014b50;
const LOCAL = 0x04034b50;
const [LEAST_END, LONGEST_COMMENT, LOCATOR_SIZE, LOCAL_SIZE] = [22, 65_535, 20, 30];
const MOST_DIRECTORY = 256 * 1024 * 1024;
/** Compression by these methods is undone: none, deflate, Zstandard. */
export const [STORED, DEFLATE, ZSTD] = [0, 8, 93] as const;
/** For a decoder of Zstandard: its window is at most 128 MiB. */
export const ZSTD_LIMITS = { params: { [constants.ZSTD_d_windowLogMax]: 27 } };
/** Of the flags of an entry. */
const ENCRYPTED = 1;

/**
 * The entries of a zip archive, in the order of its directory; of several with one name the last. Entries that share bytes are refused:
 * with them a small file could expand without end.
 *
 * @throws E_INPUT_TRUNCATED, E_INPUT_SHAPE, E_INPUT_TOO_LARGE
 */
export const listZipEntries = async (file: RandomAccess): Promise<readonly ZipEntry[]> => {
  const { at, size, count } = await directoryOf(file);
  if (size > MOST_DIRECTORY)
    throw fail('E_INPUT_TOO_LARGE', `the directory of ${file.name} has ${size} bytes`);
  const bytes = viewOf(await file.read(at, size));
  const entries = new Map<string, ZipEntry>();
  let offset = 0;
  let all = 0;
  for (let i = 0; i < count; i++) {
    if (offset + 46 > bytes.byteLength || bytes.getUint32(offset, true) !== DIRECTORY)
      throw fail('E_INPUT_SHAPE', `the directory of ${file.name} is damaged at entry ${i}`);
    const { entry, next } = entryAt(bytes, offset, file.name);
    all += entry.compressed;
    entries.delete(entry.name);
    entries.set(entry.name, entry);
    offset = next;
  }
  if (all > file.size) throw fail('E_INPUT_SHAPE', `entries of ${file.name} share bytes`);
  return [...entries.values()];
};

/**
 * The bytes of an entry, without its compression.
 *
 * @param most more are refused, whatever the directory says
 * @throws E_INPUT_TOO_LARGE, E_INPUT_SHAPE for another compression or damaged bytes, E_INPUT_TRUNCATED
 */
export const readZipEntry = async (
  file: RandomAccess,
  entry: ZipEntry,
  most: number,
): Promise<Uint8Array> => {
  const where = nameOfEntry(file, entry);
  if (entry.size > most || entry.compressed > most)
    throw fail('E_INPUT_TOO_LARGE', `${where} has more than ${most} bytes`);
  const bytes = await file.read(await startOfEntry(file, entry), entry.compressed);
  if (bytes.length < entry.compressed) throw fail('E_INPUT_TRUNCATED', `${where} ends too early`);
  try {
    return uncompressed(bytes, entry.method, most);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'ERR_BUFFER_TOO_LARGE')
      throw fail('E_INPUT_TOO_LARGE', `${where} has more than ${most} bytes`);
    if (code.startsWith('Z_') || code.startsWith('ZSTD_'))
      throw fail('E_INPUT_SHAPE', `${where} is compressed and damaged (${code})`);
    throw error;
  }
};

/** What is thrown for an entry of another compression. */
export const otherCompression = (where: string, method: number): Error =>
  fail('E_INPUT_SHAPE', `${where} is compressed by method ${method}, which is not read`);

/** An entry, for a person. */
export const nameOfEntry = (file: RandomAccess, { name }: ZipEntry): string => `${name} in ${file.name}`;

/** Where the bytes of an entry begin. @throws E_INPUT_SHAPE */
export const startOfEntry = async (file: RandomAccess, entry: ZipEntry): Promise<number> => {
  const local = viewOf(await file.read(entry.offset, LOCAL_SIZE));
  if (local.byteLength < LOCAL_SIZE || local.getUint32(0, true) !== LOCAL)
    throw fail('E_INPUT_SHAPE', `${nameOfEntry(file, entry)} does not begin where the directory says`);
  return entry.offset + LOCAL_SIZE + local.getUint16(26, true) + local.getUint16(28, true);
};

const uncompressed = (bytes: Uint8Array, method: number, most: number): Uint8Array => {
  const limits = { maxOutputLength: Math.max(1, most) };
  switch (method) {
    case STORED:
      return bytes;
    case DEFLATE:
      return inflateRawSync(bytes, limits);
    case ZSTD:
      return zstdDecompressSync(bytes, { ...limits, ...ZSTD_LIMITS });
    default:
      throw otherCompression('an entry of the archive', method);
  }
};

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Where the directory is. */
const directoryOf = async (
  file: RandomAccess,
): Promise<{ readonly at: number; readonly size: number; readonly count: number }> => {
  const tail = Math.min(file.size, LEAST_END + LONGEST_COMMENT + LOCATOR_SIZE);
  const from = file.size - tail;
  const bytes = viewOf(await file.read(from, tail));
  for (let i = bytes.byteLength - LEAST_END; i >= 0; i--) {
    if (bytes.getUint32(i, true) !== END) continue;
    const found = {
      count: bytes.getUint16(i + 10, true),
      size: bytes.getUint32(i + 12, true),
      at: bytes.getUint32(i + 16, true),
    };
    const isLarge = found.count === 0xffff || found.size === 0xffffffff || found.at === 0xffffffff;
    const locator = i - LOCATOR_SIZE;
    if (!isLarge || locator < 0 || bytes.getUint32(locator, true) !== LOCATOR_64) return checked(file, found);
    return checked(file, await largeDirectory(file, wideAt(bytes, locator + 8)));
  }
  throw fail('E_INPUT_TRUNCATED', `${file.name} is an archive whose end is missing`);
};

const largeDirectory = async (file: RandomAccess, at: number) => {
  const bytes = viewOf(await file.read(at, 56));
  if (bytes.byteLength < 56 || bytes.getUint32(0, true) !== END_64)
    throw fail('E_INPUT_SHAPE', `the end of the archive ${file.name} is damaged`);
  return { count: wideAt(bytes, 32), size: wideAt(bytes, 40), at: wideAt(bytes, 48) };
};

const checked = <Found extends { readonly at: number; readonly size: number }>(
  file: RandomAccess,
  found: Found,
): Found => {
  if (found.at + found.size > file.size)
    throw fail('E_INPUT_TRUNCATED', `the directory of ${file.name} lies behind its end`);
  return found;
};

/** A number of 64 bits; one that no file reaches is beyond all sizes. */
const wideAt = (bytes: DataView, offset: number): number => {
  const value = bytes.getBigUint64(offset, true);
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
};

const entryAt = (
  bytes: DataView,
  offset: number,
  file: string,
): { readonly entry: ZipEntry; readonly next: number } => {
  const [nameLength, extraLength, commentLength] = [28, 30, 32].map((at) =>
    bytes.getUint16(offset + at, true),
  );
  const name = offset + 46;
  const extra = name + (nameLength ?? 0);
  const next = extra + (extraLength ?? 0) + (commentLength ?? 0);
  if (next > bytes.byteLength) throw fail('E_INPUT_SHAPE', `the directory of ${file} is damaged`);
  const sizes = [24, 20, 42].map((at) => bytes.getUint32(offset + at, true));
  const [size = 0, compressed = 0, start = 0] = withLarge(sizes, bytes, extra, extra + (extraLength ?? 0));
  const text = new TextDecoder().decode(
    new Uint8Array(bytes.buffer, bytes.byteOffset + name, nameLength ?? 0),
  );
  return {
    entry: {
      ...{ name: text, method: bytes.getUint16(offset + 10, true), compressed, size, offset: start },
      checksum: bytes.getUint32(offset + 16, true),
      isEncrypted: (bytes.getUint16(offset + 8, true) & ENCRYPTED) !== 0,
    },
    next,
  };
};

/** The sizes with those of 64 bits, which stand in the extra field of an entry in this order. */
const withLarge = (
  sizes: readonly number[],
  bytes: DataView,
  from: number,
  to: number,
): readonly number[] => {
  for (let at = from; at + 4 <= to;) {
    const [id, length] = [bytes.getUint16(at, true), bytes.getUint16(at + 2, true)];
    if (id !== 1) {
      at += 4 + length;
      continue;
    }
    let next = at + 4;
    return sizes.map((size) => {
      if (size !== 0xffffffff || next + 8 > Math.min(to, at + 4 + length)) return size;
      next += 8;
      return wideAt(bytes, next - 8);
    });
  }
  return sizes;
};
