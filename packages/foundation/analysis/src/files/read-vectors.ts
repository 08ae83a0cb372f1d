import { fail } from '@stemma/errors';
import { embedTexts } from '../embed-text.ts';
import { checkedVectors, vectorsFrom, type Vectors } from '../vectors.ts';
import { readCsv } from './csv.ts';
import { isNpy, readNpy } from './npy.ts';
import { jsonIn, jsonLinesIn, vectorText } from './vector-text.ts';

/** What a file of vectors or texts holds. */
export type VectorFile = {
  readonly vectors: Vectors;
  /** The text of each row, if the file has texts. */
  readonly texts: readonly string[] | null;
  /** The round of each row, if the file has rounds. */
  readonly rounds: readonly number[] | null;
  /** True if the vectors were computed from the texts, by the built-in embedder. */
  readonly isEmbedded: boolean;
};

/**
 * The vectors of a file, whose format shows in its first bytes:
 *
 * - `.npy`: see {@link readNpy};
 * - JSON: a list of vectors, or of objects with `vector` or `embedding`, `text` and `round`, of which all but one may be missing;
 * - JSON Lines: one of these on each line;
 * - CSV: one vector on each line, numbers between commas, semicolons or tabs; a first line of names is left out.
 *
 * Texts without vectors are embedded by {@link embedTexts}.
 *
 * @throws E_VECTORS for everything else, with the row; E_INPUT_TOO_LARGE for more than 400 MiB of text
 */
export const readVectors = (bytes: Uint8Array): VectorFile => {
  if (isNpy(bytes)) return ofVectors(readNpy(bytes));
  const text = vectorText(bytes);
  const first = text.trimStart()[0];
  if (first === undefined) throw fail('E_VECTORS', 'the file is empty');
  return first === '[' || first === '{' ? ofRows(jsonRows(text)) : ofVectors(readCsv(text));
};

const ofVectors = (vectors: Vectors): VectorFile => ({
  vectors,
  ...{ texts: null, rounds: null, isEmbedded: false },
});

/** The items of a JSON list, or of JSON Lines. */
const jsonRows = (text: string): readonly unknown[] => {
  const whole = text.trim();
  const isOneLine = !whole.includes('\n');
  const first = isOneLine ? whole : whole.slice(0, whole.indexOf('\n'));
  const value = jsonIn(first);
  // A first line that is a value of its own is a row, unless it is all that there is and a list of rows.
  if (value !== undefined && !(isOneLine && isListOfRows(value))) {
    return jsonLinesIn(whole).map((row) => row.value);
  }
  const list = jsonIn(whole);
  if (list === undefined) throw fail('E_VECTORS', 'the file is neither JSON nor JSON Lines');
  return Array.isArray(list) ? list : [list];
};

const isListOfRows = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null);

type Row = {
  readonly vector: readonly number[] | null;
  readonly text: string | null;
  readonly round: number | null;
};

const ofRows = (values: readonly unknown[]): VectorFile => {
  const rows = values.map(rowOfJson);
  const [first] = rows;
  if (first === undefined) throw fail('E_VECTORS', 'there are no vectors');
  const vectors = column(rows, 'vector', ({ vector }) => vector);
  const texts = column(rows, 'text', ({ text }) => text);
  const rounds = column(rows, 'round', ({ round }) => round);
  if (vectors !== null) return { vectors: vectorsFrom(vectors), texts, rounds, isEmbedded: false };
  if (texts === null) throw fail('E_VECTORS', 'the rows have neither vectors nor texts');
  return { vectors: checkedVectors(embedTexts(texts)), texts, rounds, isEmbedded: true };
};

/** What all rows have, or none. */
const column = <T>(rows: readonly Row[], name: string, of: (row: Row) => T | null): readonly T[] | null => {
  const values = rows.map(of);
  const missing = values.indexOf(null);
  if (missing === -1) return values as T[];
  const there = values.findIndex((value) => value !== null);
  if (there === -1) return null;
  throw fail('E_VECTORS', `row ${missing + 1} has no ${name}, row ${there + 1} has one`, {
    row: missing + 1,
  });
};

const rowOfJson = (value: unknown, i: number): Row => {
  if (Array.isArray(value)) return { vector: numbers(value, i), text: null, round: null };
  if (typeof value === 'string') return { vector: null, text: value, round: null };
  if (typeof value !== 'object' || value === null)
    throw fail('E_VECTORS', `row ${i + 1} is neither a vector nor an object`, { row: i + 1 });
  const { vector, embedding, text, round } = value as Readonly<Record<string, unknown>>;
  if (text !== undefined && typeof text !== 'string')
    throw fail('E_VECTORS', `the text of row ${i + 1} is not a text`, { row: i + 1 });
  if (round !== undefined && !Number.isSafeInteger(round))
    throw fail('E_VECTORS', `the round of row ${i + 1} is not a whole number`, { row: i + 1 });
  const given = vector ?? embedding;
  return {
    vector: given === undefined || given === null ? null : numbers(given, i),
    text: text ?? null,
    round: (round as number | undefined) ?? null,
  };
};

const numbers = (value: unknown, i: number): readonly number[] => {
  if (!Array.isArray(value))
    throw fail('E_VECTORS', `the vector of row ${i + 1} is not a list`, { row: i + 1 });
  const wrong = value.findIndex((item) => typeof item !== 'number');
  if (wrong !== -1)
    throw fail('E_VECTORS', `row ${i + 1} holds ${JSON.stringify(value[wrong])}, which is not a number`, {
      row: i + 1,
    });
  return value as number[];
};
