import { fail } from '@stemma/errors';
import { CsvError, parse } from 'csv-parse/sync';
import { vectorsFrom, type Vectors } from '../vectors.ts';

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

type CsvLine = { readonly cells: readonly string[]; readonly line: number };

/**
 * The vectors of a text with one on each line, numbers between commas, semicolons or tabs, quoted or not (RFC 4180). A
 * first line without a number is left out.
 */
export const readCsv = (text: string): Vectors => {
  const lines = csvLines(text);
  const [first] = lines;
  if (first === undefined) throw fail('E_VECTORS', 'there are no vectors');
  const isHead = !first.cells.some((cell) => NUMBER.test(cell));
  const rows = (isHead ? lines.slice(1) : lines).map(({ cells, line }) =>
    cells.map((cell, column) => {
      if (NUMBER.test(cell)) return Number(cell);
      throw fail(
        'E_VECTORS',
        `line ${line} holds ${cell === '' ? 'nothing' : JSON.stringify(cell)} in column ${column + 1}, where a number is expected`,
        { line },
      );
    }),
  );
  return vectorsFrom(rows);
};

/** The lines that are not blank, each with its number. @throws E_VECTORS for quotes that are not those of CSV */
const csvLines = (text: string): readonly CsvLine[] => {
  const at = text.search(/\S/);
  const head = text.slice(text.lastIndexOf('\n', at) + 1, text.indexOf('\n', at) >>> 0);
  const delimiter = ['\t', ';', ','].find((one) => head.includes(one)) ?? ',';
  const lines: CsvLine[] = [];
  try {
    parse(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      on_record: (cells: string[], { lines: line }) => {
        const trimmed = cells.map((cell) => cell.trim());
        const isBlank = (delimiter === '\t' || cells.length === 1) && trimmed.every((cell) => cell === '');
        if (!isBlank) lines.push({ cells: trimmed, line });
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw fail('E_VECTORS', `the file is not CSV: ${error.message}`);
  }
  return lines;
};
