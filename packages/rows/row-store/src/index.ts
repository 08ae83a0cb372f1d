export { hashBytes, isSealed, rowsDamaged, sealBytes, seedOf, unsealBytes } from './checksum.ts';
export {
  changesOf,
  decodeChange,
  eachEncoded,
  encodeChanges,
  ownerCell,
  type EncodedChange,
} from './encoded-changes.ts';
export type { Bound, FetchedRows, KeyRange } from './key-range.ts';
export {
  decodeKey,
  encodeKey,
  encodeBounds,
  encodeRange,
  keyScratch,
  keyText,
  MAX_KEY_BYTES,
  writeKey,
  writeUint,
} from './key.ts';
export { localSource, scanOf, type TableReader } from './local-rows.ts';
export {
  type Memory,
  type MemoryGeneration,
  openMemoryRowStore,
  refuseOpenRange,
  sameCursor,
  shapeOf,
} from './memory-row-store.ts';
export {
  appendRows,
  compareCells,
  compareKeys,
  findPacked,
  lastKey,
  packRows,
  unpackRows,
} from './packed-rows.ts';
export {
  findRow,
  listRows,
  type NamedKey,
  namedRow,
  type NamedRow,
  type NamedValue,
  putRow,
  removeRow,
  type WrittenRow,
} from './named-rows.ts';
export { remoteGeneration, type RemoteGeneration, type RemoteState } from './remote-generation.ts';
export type { FetchRows } from './remote-rows.ts';
export { type StagedRows, stageRows } from './staged-rows.ts';
export type {
  Generation,
  GenerationView,
  Promotion,
  RowChange,
  RowSource,
  RowStore,
  RowsAddress,
  Scan,
} from './store.ts';
export type {
  Cell,
  CellReader,
  ColumnType,
  Key,
  KeyCell,
  KeyOf,
  Range,
  Row,
  RowOf,
  RowReader,
  Rows,
  Table,
  Value,
  ValueOf,
} from './table.ts';
export { defineTable, typedRows } from './table.ts';
export { packValue, sealedValue, unpackValue, unsealValue, valueChecksum } from './value.ts';
