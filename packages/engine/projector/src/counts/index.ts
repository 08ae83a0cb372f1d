export { openAddedCounts, type AddedCounts, type CountingRows } from './added-counts.ts';
export { checkRowCounts } from './check-row-counts.ts';
export { openCountCheck } from './count-check.ts';
export { BUCKET_COUNTS, countedAmong, historyColumn, ROW_COUNTS, type IsCounted } from './counted-tables.ts';
export { knownKeys } from './known-keys.ts';
