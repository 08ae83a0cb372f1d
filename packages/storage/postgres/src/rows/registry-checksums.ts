import type { StemmaError } from '@stemma/errors';
import { hashBytes, rowsDamaged, sealBytes, seedOf, unsealBytes } from '@stemma/row-store';

/*
 * What the store knows of itself is checked as rows are: a cursor has its checksum behind it, so that both are compared and
 * set as one; a generation and a group have theirs in a column.
 */

/** What errors call the table of a damaged record. */
type OwnTable = 'cursors' | 'generations' | 'groups' | 'started_partitions';

/** The checksum of a record of the store's own; its cells in an order that never changes. */
export const recordChecksum = (table: OwnTable, cells: readonly (string | number)[]): number =>
  hashBytes(seedOf({ name: table }), Buffer.from(JSON.stringify(cells)));

/** The checksum of the record that says that a generation has a cursor. */
export const startedChecksum = (generation: string, partition: number): number =>
  recordChecksum('started_partitions', [generation, partition]);

/** The bytes of a cursor as the database keeps them. */
export const sealCursor = (generation: string, partition: number, cursor: Uint8Array): Buffer =>
  sealBytes(recordChecksum('cursors', [generation, partition]), cursor);

/** @throws E_ROWS_DAMAGED */
export const unsealCursor = (generation: string, partition: number, sealed: Uint8Array): Uint8Array => {
  const cursor = unsealBytes(recordChecksum('cursors', [generation, partition]), sealed);
  if (cursor === undefined) throw ownRecordDamaged('cursors', generation);
  return Uint8Array.from(cursor);
};

export const ownRecordDamaged = (table: OwnTable, generation: string): StemmaError =>
  rowsDamaged(generation, table);
