import { ImportSummary } from '@stemma/events';
import { fail } from '@stemma/errors';
import { findRow, type RowReader } from '@stemma/row-store';
import { IMPORTS } from './tables.ts';

/** What the file had that a history was imported from. */
export type ImportRow = {
  /** The frame that says so. */
  readonly seq: number;
  readonly format: string;
  /** Of the program that wrote the file, or of the format; null: the file does not say. */
  readonly version: string | null;
  readonly title: string | null;
  readonly summary: ImportSummary;
};

/** What the newest import of a history says; undefined: it was not imported, or by a Stemma that did not record it. */
export const findImport = (rows: RowReader, history: string): ImportRow | undefined => {
  const row = findRow(rows, IMPORTS, { history });
  if (row === undefined) return undefined;
  const { seq, format, version, title } = row;
  const summary = ImportSummary.safeParse(row.summary);
  if (summary.success) return { seq, format, version, title, summary: summary.data };
  throw fail(
    'E_ROWS_DAMAGED',
    `the counts of the import of ${history} are not of the form in which imports record them`,
    {
      history,
    },
  );
};
