import { fail } from '@stemma/errors';
import type { RowsAddress, RowSource, Table } from '@stemma/row-store';
import { readEntry } from './entries.ts';
import { openReadEnvironment } from './lmdb-environment.ts';
import { lmdbGeneration } from './lmdb-generation.ts';
import { ownRecords } from './own-records.ts';

/** Rows of a generation that another thread of this process has open, and alone commits. */
export type LmdbRowsAtAddress = {
  readonly rows: RowSource;
  /** From here on reads see the newest commit. */
  refresh(): void;
  close(): Promise<void>;
};

/** The other thread keeps its store open until this one is closed. @throws E_IO, E_ROWS_DAMAGED */
export const openLmdbRowsAtAddress = (
  { file, generation: name }: RowsAddress,
  tables: readonly Table[],
): LmdbRowsAtAddress => {
  const environment = openReadEnvironment(file);
  const db = ownRecords(environment.own);
  const refuse = (): never => {
    throw fail('E_INTERNAL', 'rows that another thread has open are only read here');
  };
  const generation = lmdbGeneration(
    { ...environment, file, write: refuse, replace: refuse, isReplaced: () => false },
    name,
    tables,
    { number: () => readEntry(db, name)?.number, register: refuse },
  );
  // Opened now, one thread after the other, and not in the middle of a fold.
  for (const table of tables) environment.table(table.name, false);
  return {
    rows: generation.source(),
    refresh: () => void generation.read(() => undefined),
    close: () => environment.close(),
  };
};
