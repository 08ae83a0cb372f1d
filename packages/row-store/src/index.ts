export { decodeKey, encodeKey, encodeRange, keyScratch, MAX_KEY_BYTES, writeKey, writeUint } from './key.ts';
export { openMemoryRowStore, type MemoryGeneration, type MemoryRowStore } from './memory-row-store.ts';
export { nearSource, scanOf, type TableReader } from './near-rows.ts';
export { stageRows, type StagedRows } from './staged-rows.ts';
export { refuseOpenRange, sameCursor, shapeOf } from './memory-row-store.ts';
export type {
  Generation,
  GenerationView,
  Place,
  Promotion,
  RowBatch,
  RowChange,
  RowSource,
  RowStore,
  Scan,
} from './store.ts';
export type { Cell, ColumnType, Key, KeyCell, Range, Row, RowReader, Rows, Table, Value } from './table.ts';
export { packedValue, packValue, unpackValue } from './value.ts';
export { farGeneration, type FarRows, type FarState } from './far-generation.ts';
export type { Fetch } from './far-rows.ts';
export type { Edge, Fetched, Stretch } from './far-stretch.ts';
