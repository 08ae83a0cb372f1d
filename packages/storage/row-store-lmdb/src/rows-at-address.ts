import { fail } from '@stemma/errors';
import type { Generation, RowsAddress, RowSource, Table } from '@stemma/row-store';
import { readEntry } from './entries.ts';
import { openReadEnvironment, openWriteEnvironment, type LmdbEnvironment } from './lmdb-environment.ts';
import { lmdbGeneration } from './lmdb-generation.ts';
import { ownRecords } from './own-records.ts';

/** Rows of a generation that another thread of this process has open, and commits. */
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
  const refuse = (): never => {
    throw fail('E_INTERNAL', 'rows that another thread has open are only read here');
  };
  const generation = generationIn({ ...environment, file, write: refuse }, name, tables);
  return {
    rows: generation.source(),
    refresh: () => void generation.read(() => undefined),
    close: () => environment.close(),
  };
};

/** Rows of a generation that another thread of this process has open, to read and to commit. */
export type LmdbGenerationAtAddress = {
  readonly generation: Generation;
  close(): Promise<void>;
};

/**
 * The other thread keeps its store open until this one is closed, and gave the address to one that commits.
 *
 * @param inside calls `fn`, so that the process does not end meanwhile: a lock of LMDB would be kept for ever
 * @throws E_IO, E_ROWS_DAMAGED
 */
export const openLmdbGenerationAtAddress = (
  { file, generation: name }: RowsAddress,
  tables: readonly Table[],
  inside: <T>(fn: () => T) => T,
): LmdbGenerationAtAddress => {
  const environment = openWriteEnvironment(file, inside);
  return {
    generation: generationIn({ ...environment, file }, name, tables),
    close: () => environment.close(),
  };
};

const generationIn = (
  environment: Omit<LmdbEnvironment, 'isReplaced' | 'replace' | 'tableNames'>,
  name: string,
  tables: readonly Table[],
): Generation => {
  const db = ownRecords(environment.own);
  const refuse = (): never => {
    throw fail('E_INTERNAL', 'whoever entered the rows begins and replaces them');
  };
  const generation = lmdbGeneration(
    { ...environment, replace: refuse, isReplaced: () => false },
    name,
    tables,
    { number: () => readEntry(db, name)?.number, register: refuse },
  );
  // Opened now, one thread after the other, and not in the middle of a fold.
  for (const table of tables) environment.table(table.name, false);
  return generation;
};
