import { concernedHistory } from '../check-record.ts';
import type { Opened } from '../cursor.ts';

/**
 * Where the newest records are that a reader has checked, by history. Rows are usually behind the log by no more than these: of a
 * history that is loaded from rows, its own records are read, and not all of the log behind the rows.
 */
export type RecentRecords = {
  /** Takes records that follow those before them, up to an offset. */
  readonly add: (opened: readonly Opened[], end: number) => void;
  /**
   * The offsets of the records that concern a history, from an offset on; undefined if some may be forgotten. Those before the
   * offset are forgotten now: they are in the rows.
   */
  readonly of: (history: string, from: number) => readonly number[] | undefined;
};

/** @param start the offset from which records will be added. @param most how many are remembered: the newest */
export const openRecentRecords = (start: number, most = 500_000): RecentRecords => {
  /** In the order of the log; those before `gone` are forgotten. */
  let records: { readonly offset: number; readonly next: number; readonly history: string | null }[] = [];
  let gone = 0;
  const byHistory = new Map<string, number[]>();
  let from = start;
  let end = start;
  const forgetOldest = (): void => {
    const oldest = records[gone++];
    if (oldest === undefined) return;
    from = oldest.next;
    if (oldest.history !== null) {
      const own = byHistory.get(oldest.history);
      own?.shift();
      if (own?.length === 0) byHistory.delete(oldest.history);
    }
    if (gone * 2 < records.length) return;
    records = records.slice(gone);
    gone = 0;
  };
  return {
    add: (opened, reached) => {
      for (const { record, open } of opened) {
        const { offset, next } = record;
        if (offset >= reached) break;
        const history = concernedHistory(record, open);
        records.push({ offset, next, history });
        if (history === null) continue;
        const own = byHistory.get(history);
        if (own) own.push(offset);
        else byHistory.set(history, [offset]);
      }
      end = reached;
      while (records.length - gone > most) forgetOldest();
    },
    of: (history, offset) => {
      if (offset < from) return undefined;
      while ((records[gone]?.offset ?? Infinity) < offset) forgetOldest();
      from = Math.max(from, Math.min(offset, end));
      return [...(byHistory.get(history) ?? [])];
    },
  };
};
