import { nearestMark, readChain, type Link } from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';
import { CYCLES } from './tables.ts';

/** What can be seen from a position: its chain, and the newest cycle on it. */
export type Vista = {
  readonly history: string;
  /** Root first. */
  readonly chain: readonly Link[];
  readonly cycle: number;
  /** True if a frame lies on the chain. */
  readonly sees: (strand: number, seq: number) => boolean;
};

/** @throws E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND */
export const vistaFrom = (rows: RowReader, history: string, strand: number, seq: number): Vista =>
  vistaOf(history, readChain(rows, history, strand, seq), nearestMark(rows, history, strand, seq).mark.cycle);

const vistaOf = (history: string, chain: readonly Link[], cycle: number): Vista => {
  const limits = new Map(chain.map((link) => [link.strand, link.limit]));
  return { history, chain, cycle, sees: (of, at) => at <= (limits.get(of) ?? -1) };
};

/** What both positions see: the last position they have in common. */
export const commonVista = (rows: RowReader, a: Vista, b: Vista): Vista & { readonly at: Link } => {
  const limits = new Map(b.chain.map((link) => [link.strand, link.limit]));
  const shared = a.chain.flatMap(({ strand, limit }) => {
    const other = limits.get(strand);
    return other === undefined ? [] : [{ strand, limit: Math.min(limit, other) }];
  });
  // A strand that is seen only from before its beginning has nothing of its own here.
  const at = shared.findLast(({ strand, limit }) => limit >= strand) ?? { strand: 0, limit: 0 };
  const { cycle } = nearestMark(rows, a.history, at.strand, at.limit).mark;
  return { ...vistaOf(a.history, shared, cycle), at };
};

/** The frame that ended a cycle, by its rows. */
export type CycleRow = {
  readonly strand: number;
  readonly cycle: number;
  readonly seq: number;
  /** The event that is its snapshot. */
  readonly index: number;
  /** The turn that it made of the head, and the event that did. */
  readonly turn: { readonly id: string; readonly index: number } | null;
  readonly imported: boolean;
};

/** The frame on the chain that ended a cycle; undefined if none did. */
export const cycleSeen = (
  rows: RowReader,
  { history, chain }: Vista,
  cycle: number,
): CycleRow | undefined => {
  for (let i = chain.length - 1; i >= 0; i--) {
    const { strand, limit } = chain[i] as Link;
    const value = rows.get(CYCLES, [history, strand, cycle]);
    if (value === undefined || (value[0] as number) > limit) continue;
    const [seq, index, turn, turnIndex, imported] = value as [
      number,
      number,
      string | null,
      number | null,
      boolean | null,
    ];
    return {
      strand,
      cycle,
      seq,
      index,
      turn: turn === null ? null : { id: turn, index: turnIndex ?? 0 },
      imported: imported === true,
    };
  }
  return undefined;
};
