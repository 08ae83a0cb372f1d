import { lineageName, positionIn, readChain, type Position } from '@stemma/history-store';
import { findLineage, listLineages, listNames, listNotes, type LineageRow } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { cycleAt } from './saved.ts';
import type { LineageNode } from './types.ts';

const milliseconds = (nanoseconds: bigint): number => Number(nanoseconds / 1_000_000n);

/** What is told of a lineage beside its row, for all lineages of a history at once. */
const describing = (rows: RowReader, history: string): ((row: LineageRow) => LineageNode) => {
  const place = (strand: number, at: number): Omit<LineageNode['saved'][number], 'name'> => {
    const { seq, cycle, label } = positionIn(rows, history, strand, at);
    return { seq, cycle, label };
  };
  const saved = new Map<number, LineageNode['saved'][number][]>();
  for (const { name, strand, position } of listNames(rows, history)) {
    const own = saved.get(strand);
    const one = { name, ...place(strand, position) };
    if (own === undefined) saved.set(strand, [one]);
    else own.push(one);
  }
  const said = new Map<number, string>();
  for (const { strand, seq, position, note } of listNotes(rows, history))
    if (strand === position && seq === strand) said.set(strand, note);
  return (row) => ({
    lineage: lineageName(rows, history, row.strand),
    strand: row.strand,
    name: row.name,
    how: row.how,
    parent:
      row.parent === null ? null : { strand: row.parent.strand, ...place(row.parent.strand, row.parent.seq) },
    left_by: row.leftBy,
    started_at: milliseconds(row.startedAt),
    updated_at: milliseconds(row.newestAt),
    seq: row.seq,
    cycle: cycleAt(rows, history, row.strand, row.seq),
    frames: row.frames,
    description: row.strand === 0 ? '' : (said.get(row.strand) ?? ''),
    saved: [...(saved.get(row.strand) ?? [])].sort((a, b) => a.seq - b.seq),
  });
};

/** The lineages of a history in the order they began. */
export const lineageTree = (rows: RowReader, history: string): readonly LineageNode[] =>
  listLineages(rows, history).map(describing(rows, history));

/** The lineages on the chain of a position, from the root. */
export const ancestorsOf = (rows: RowReader, { history, strand, seq }: Position): readonly LineageNode[] => {
  const describe = describing(rows, history);
  return readChain(rows, history, strand, seq)
    .map((link) => findLineage(rows, history, link.strand))
    .filter((row) => row !== undefined)
    .map(describe);
};
