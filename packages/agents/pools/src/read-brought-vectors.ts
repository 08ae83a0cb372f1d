import { isNpy, jsonIn, jsonLinesIn, readNpy, rowOf, vectorText } from '@stemma/analysis';
import { fail } from '@stemma/errors';
import type { BroughtVector } from './embed-pool.ts';

/** The most numbers of a vector, and rows of a file. */
const MOST_DIMENSION = 65_536;
const MOST_ROWS = 1_000_000;

/** A text's SHA-256. */
const HASH = /^[0-9a-f]{64}$/;

/**
 * The vectors in a file, and whose they are. Two forms, told apart by their first bytes:
 *
 * - JSON Lines: on each line an object with `vector` (or `embedding`), a list of numbers, and one of `message` (an id), `vector_id`,
 *   `text` and `text_hash`;
 * - `.npy` (see `readNpy`), whose rows `ids` names in their order: a JSON list, or one JSON value a line, of ids of messages, numbers
 *   (`vector_id`), and hashes of texts (64 hexadecimal digits). Without `ids` row i is that of the message with the `vector_id` i.
 *
 * Numbers become those of single precision, as they are recorded.
 *
 * @throws E_VECTORS for everything else, with the row; E_INPUT_TOO_LARGE
 */
export const readBroughtVectors = (
  bytes: Uint8Array,
  ids: Uint8Array | null = null,
): readonly BroughtVector[] => {
  if (isNpy(bytes)) return rowsOfNpy(bytes, ids);
  if (ids !== null)
    throw fail('E_VECTORS', 'a file with ids belongs to a .npy file; other files name whose each vector is');
  const rows = jsonLinesIn(vectorText(bytes)).map(({ value, line }) =>
    readBroughtVector(value, `line ${line}`),
  );
  const [first] = rows;
  if (first === undefined) throw fail('E_VECTORS', 'there are no vectors');
  refuseMany(rows.length, first.vector.length);
  for (const [i, { vector }] of rows.entries())
    if (vector.length !== first.vector.length)
      throw fail(
        'E_VECTORS',
        `vector ${i + 1} has ${vector.length} numbers, vector 1 has ${first.vector.length}`,
        { row: i + 1 },
      );
  return rows;
};

const refuseMany = (rows: number, dimension: number): void => {
  if (rows > MOST_ROWS) throw fail('E_INPUT_TOO_LARGE', `${rows} vectors are more than ${MOST_ROWS}`);
  if (dimension > MOST_DIMENSION)
    throw fail('E_VECTORS', `the vectors have ${dimension} numbers, more than ${MOST_DIMENSION}`);
};

const rowsOfNpy = (bytes: Uint8Array, ids: Uint8Array | null): readonly BroughtVector[] => {
  const vectors = readNpy(bytes);
  refuseMany(vectors.rows, vectors.dimension);
  const named = ids === null ? Array.from({ length: vectors.rows }, (_, row) => row) : idsIn(ids);
  if (named.length !== vectors.rows)
    throw fail('E_VECTORS', `the .npy file has ${vectors.rows} rows, and ${named.length} ids are named`);
  return named.map((id, row) => ({
    vector: singleOf(rowOf(vectors, row), `row ${row + 1}`, row),
    ...whose(id, `id ${row + 1}`),
  }));
};

const idsIn = (bytes: Uint8Array): readonly unknown[] => {
  const text = vectorText(bytes).trim();
  if (text.startsWith('[')) {
    const list = jsonIn(text);
    if (Array.isArray(list)) return list as readonly unknown[];
  }
  return jsonLinesIn(vectorText(bytes)).map(({ value }) => value);
};

const whose = (
  id: unknown,
  where: string,
): { message: string } | { vectorId: number } | { textHash: string } => {
  if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) return { vectorId: id };
  if (typeof id === 'string' && HASH.test(id)) return { textHash: id };
  if (typeof id === 'string' && id !== '' && id.length <= 2_048) return { message: id };
  throw fail('E_VECTORS', `${where} is neither a message, nor a vector_id, nor the hash of a text`);
};

const NAMES = ['message', 'vector_id', 'text', 'text_hash'] as const;

/** The vector in an object such as a line holds, and whose it is. @throws E_VECTORS */
export const readBroughtVector = (value: unknown, where: string): BroughtVector => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw fail('E_VECTORS', `${where} is no object with a vector`);
  const fields = value as Readonly<Record<string, unknown>>;
  const numbers = fields['vector'] ?? fields['embedding'];
  if (!Array.isArray(numbers) || numbers.length === 0)
    throw fail('E_VECTORS', `${where}: the vector is no list of numbers`);
  const wrong = numbers.findIndex((number) => typeof number !== 'number');
  if (wrong !== -1)
    throw fail(
      'E_VECTORS',
      `${where}: the vector holds ${JSON.stringify(numbers[wrong])}, which is no number`,
    );
  const named = NAMES.filter((name) => fields[name] !== undefined && fields[name] !== null);
  const [name] = named;
  if (name === undefined || named.length > 1)
    throw fail('E_VECTORS', `${where}: name one of ${NAMES.join(', ')}: whose vector it is`);
  const vector = singleOf(numbers as readonly number[], where);
  const given = fields[name];
  if (name === 'text') {
    if (typeof given === 'string') return { vector, text: given };
    throw fail('E_VECTORS', `${where}: the text is no text`);
  }
  if (name === 'message' && typeof given === 'string' && given !== '') return { vector, message: given };
  const other = whose(given, `${where}: the ${name}`);
  if ((name === 'vector_id') === 'vectorId' in other && (name === 'text_hash') === 'textHash' in other)
    return { vector, ...other };
  throw fail('E_VECTORS', `${where}: the ${name} is none`);
};

/** The numbers in single precision. */
const singleOf = (numbers: ArrayLike<number>, where: string, row?: number): Float32Array => {
  const vector = Float32Array.from(numbers);
  const wrong = vector.findIndex((number) => !Number.isFinite(number));
  if (wrong === -1) return vector;
  throw fail(
    'E_VECTORS',
    `${where}: number ${wrong + 1} of ${vector.length} is not finite in single precision`,
    row === undefined ? {} : { row: row + 1 },
  );
};
