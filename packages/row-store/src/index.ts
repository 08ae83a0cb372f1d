export { decodeKey, encodeKey, encodeRange, keyScratch, MAX_KEY_BYTES, writeKey, writeUint } from './key.ts';
export { openMemoryRowStore } from './memory-row-store.ts';
export { stageRows, type StagedRows } from './staged-rows.ts';
export { refuseOpenRange, sameCursor, shapeOf } from './memory-row-store.ts';
export type { Generation, GenerationView, Promotion, RowBatch, RowChange, RowStore } from './store.ts';
export type { Cell, ColumnType, Key, KeyCell, Range, Row, RowReader, Rows, Table, Value } from './table.ts';
export { packedValue, packValue, unpackValue } from './value.ts';
