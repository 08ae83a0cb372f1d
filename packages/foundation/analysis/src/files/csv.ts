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
  let line = 1;
  try {
    parse(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      raw: true,
      // With `raw` it is given objects, which its types do not say.
      on_record: (given: unknown) => {
        const { record, raw } = given as { readonly record: readonly string[]; readonly raw: string };
        if (raw.trim() !== '') lines.push({ cells: record.map((cell) => cell.trim()), line });
        line += linesIn(raw);
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw fail('E_VECTORS', `the file is not CSV: ${error.message}`);
  }
  return lines;
};

/** How many lines a record takes. Its text ends with the first character of its line's end; `csv-parse` counts lone returns, too. */
const linesIn = (raw: string): number => {
  let lines = raw.endsWith('\r') ? 1 : 0;
  for (let at = raw.indexOf('\n'); at >= 0; at = raw.indexOf('\n', at + 1)) lines++;
  return lines;
};
