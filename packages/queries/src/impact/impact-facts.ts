import {
  nearestMark,
  newestTurn,
  readBlocksAt,
  readBlockVersions,
  readStrand,
  turnCycles,
  type BlockVersion,
} from '@stemma/history-store';
import { INTERVENTIONS, listCommits, listLineages } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';

export type Call = {
  readonly cycle: number;
  readonly seq: number;
  /** False for a cycle whose head was empty: it has no turn. */
  readonly sealed: boolean;
};

/** What one lineage did behind the act, or behind where it left its parent: in the order of the record. */
export type StrandFacts = {
  readonly strand: number;
  /** The strand and the frame it goes on from; null for the act's own. */
  readonly from: { readonly strand: number; readonly seq: number } | null;
  readonly versions: readonly BlockVersion[];
  readonly calls: readonly Call[];
};

/** All that an act's impact is told from. */
export type ImpactFacts = {
  readonly seq: number;
  readonly thread: 'full' | 'pre';
  /** The newest cycle before the act, and that of the newest turn. */
  readonly cycle: number;
  readonly turn: number;
  /** The blocks that the act touched, as they were before it. */
  readonly before: readonly BlockVersion[];
  /** Parents first. */
  readonly strands: readonly StrandFacts[];
  /** True for frames of actors: what they bring is no answer. */
  readonly byActor: (seq: number) => boolean;
};

/**
 * The facts behind an act: rows of its lineage from its frame on, and of every lineage that left one of those since.
 *
 * @throws E_LINEAGE_NOT_FOUND, E_HISTORY_NOT_FOUND
 */
export const readImpactFacts = (
  rows: RowReader,
  history: string,
  { strand, seq }: { readonly strand: number; readonly seq: number },
): ImpactFacts => {
  const { thread } = readStrand(rows, history, strand);
  const actors = new Set(
    rows.range(INTERVENTIONS, { prefix: [history], from: seq }).map(({ key }) => key[1] as number),
  );
  const strands = strandsBehind(rows, history, strand, seq).map((each): StrandFacts => {
    const since = each.strand === strand ? seq : 0;
    return {
      ...each,
      versions: readBlockVersions(rows, history, each.strand, since, thread),
      calls: callsOf(rows, history, each.strand, since, thread),
    };
  });
  const touched = strands[0]?.versions.filter(({ from }) => from === seq).map(({ id }) => id) ?? [];
  const place = { strand, seq: seq - 1 };
  return {
    seq,
    thread,
    cycle: seq === 0 ? 0 : nearestMark(rows, history, strand, seq - 1).mark.cycle,
    turn: thread === 'full' || seq === 0 ? 0 : newestTurn(rows, history, place),
    before: seq === 0 ? [] : readBlocksAt(rows, history, place, [...new Set(touched)], thread),
    strands,
    byActor: (frame) => actors.has(frame),
  };
};

/** The act's strand, and those that go on from behind the act, parents first. */
const strandsBehind = (
  rows: RowReader,
  history: string,
  own: number,
  seq: number,
): readonly Pick<StrandFacts, 'strand' | 'from'>[] => {
  const parents = new Map<number, { readonly strand: number; readonly at: number }>();
  const found = new Map<number, Pick<StrandFacts, 'strand' | 'from'>>([[own, { strand: own, from: null }]]);
  for (const { strand, parent } of listLineages(rows, history)) {
    if (parent === null) continue;
    parents.set(strand, { strand: parent.strand, at: parent.seq });
    if (strand <= own) continue;
    // A lineage may be left at a position that lies before it began: on the chain it came from.
    let from: { strand: number; at: number } | undefined = { strand: parent.strand, at: parent.seq };
    while (from !== undefined && from.at < from.strand) {
      const above = parents.get(from.strand);
      from = above && { strand: above.strand, at: Math.min(above.at, from.at) };
    }
    if (from === undefined || !found.has(from.strand) || (from.strand === own && from.at < seq)) continue;
    found.set(strand, { strand, from: { strand: from.strand, seq: from.at } });
  }
  return [...found.values()];
};

const callsOf = (
  rows: RowReader,
  history: string,
  strand: number,
  since: number,
  thread: 'full' | 'pre',
): readonly Call[] => {
  const turns = thread === 'full' ? null : turnCycles(rows, history, strand);
  return listCommits(rows, history, strand)
    .filter((row) => row.seq >= since && !row.imported)
    .map(({ cycle, seq }) => ({ cycle, seq, sealed: turns === null || turns.has(cycle) }));
};
