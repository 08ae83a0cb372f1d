import { fail } from '@stemma/errors';
import { vectorsFrom, type Vectors } from '../vectors.ts';

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** The vectors of a text with one on each line, numbers between commas, semicolons or tabs. A first line without a number is left out. */
export const readCsv = (text: string): Vectors => {
  const lines = text
    .split(/\r?\n/)
    .flatMap((line, i) => (line.trim() === '' ? [] : [{ line, number: i + 1 }]));
  const [first] = lines;
  if (first === undefined) throw fail('E_VECTORS', 'there are no vectors');
  const separator = ['\t', ';', ','].find((one) => first.line.includes(one)) ?? ',';
  const cellsOf = (line: string): readonly string[] => line.split(separator).map((cell) => cell.trim());
  const isHead = !cellsOf(first.line).some((cell) => NUMBER.test(cell));
  const rows = (isHead ? lines.slice(1) : lines).map(({ line, number }) =>
    cellsOf(line).map((cell, column) => {
      if (NUMBER.test(cell)) return Number(cell);
      throw fail(
        'E_VECTORS',
        `line ${number} holds ${cell === '' ? 'nothing' : JSON.stringify(cell)} in column ${column + 1}, where a number is expected`,
        { line: number },
      );
    }),
  );
  return vectorsFrom(rows);
};
