import {
  encodeKey,
  hashBytes,
  seedOf,
  valueChecksum,
  type Key,
  type Table,
  type Value,
} from '@stemma/row-store';

/** The checksum of a row over its table, its key and its value: over bytes, so that it does not matter how columns write them. */
export const checksumOfRow = (table: Table, key: Key, value: Value): number =>
  valueChecksum(table, value, hashBytes(seedOf(table), encodeKey(table, key)));
