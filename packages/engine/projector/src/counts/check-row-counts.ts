import type { ReadModel } from '@stemma/read-models';
import type { Scan } from '@stemma/row-store';
import { BUCKET_COUNTS, countableOf, historyColumn, ROW_COUNTS, rowsMissing } from './counted-tables.ts';

/** Compares the counts of whole tables. @param models as of {@link countedAmong} @throws E_ROWS_DAMAGED */
export const checkRowCounts = async (scan: Scan, models: readonly ReadModel[]): Promise<void> => {
  const written = new Map<string, Map<string, number>>();
  const add = (table: string, history: string, rows: number): void => {
    const byHistory = written.get(table) ?? new Map<string, number>();
    written.set(table, byHistory.set(history, (byHistory.get(history) ?? 0) + rows));
  };
  for await (const { key, value } of scan.entries(ROW_COUNTS)) add(key[1], key[0], value[0]);
  for await (const { key, value } of scan.entries(BUCKET_COUNTS)) add(key[1], key[2], value[0]);
  for (const table of countableOf(models)) {
    const column = historyColumn(table);
    const left = new Map(written.get(table.name));
    for await (const { key } of scan.entries(table)) {
      const history = String(key[column]);
      left.set(history, (left.get(history) ?? 0) - 1);
    }
    for (const [history, count] of left) if (count !== 0) throw rowsMissing(table.name, history);
  }
};
