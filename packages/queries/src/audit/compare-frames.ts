import { authorOf, findAct, findIntervention, findLineage, type Act } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { actsBetween, type Meeting, type Side } from '../meeting.ts';
import type { ActSummary, ComparedSide, Comparison } from './types.ts';

const MOST_ACTS = 200;

export type SideFrames = Pick<ComparedSide, 'first' | 'frames' | 'acts' | 'interventions'>;

/** The frames of a side behind the stem, counted in one pass over those of the history. */
export const sideFrames = (
  rows: RowReader,
  history: string,
  stem: number,
  { links, first }: Side,
): SideFrames => {
  if (first === null) return { first: null, frames: 0, acts: [], interventions: 0 };
  const limits = new Map(links.map(({ strand, limit }) => [strand, limit]));
  const acts: ActSummary[] = [];
  let frames = 0;
  let interventions = 0;
  for (const act of actsBetween(rows, history, stem + 1, Math.max(...limits.values()))) {
    if (act.observed || act.seq > (limits.get(act.strand) ?? -1)) continue;
    frames++;
    if (act.actor === null) continue;
    interventions++;
    if (acts.length < MOST_ACTS) acts.push(actSummary(rows, history, act));
  }
  return { first: actSummary(rows, history, findAct(rows, history, first)), frames, acts, interventions };
};

const actSummary = (rows: RowReader, history: string, act: Act): ActSummary => {
  const row = findIntervention(rows, history, act.seq);
  return {
    seq: act.seq,
    strand: act.strand,
    at: Number(act.at / 1_000_000n),
    author: authorOf(act),
    command: act.command,
    intervention: row === undefined ? null : { type: row.type, notes: row.notes },
  };
};

/**
 * The fork or rollback that parted two sides. Where both left for lineages of their own it is the later of the two: until
 * then one of them lay on the other's chain.
 */
export const partedBy = (
  rows: RowReader,
  history: string,
  { a, b }: Pick<Meeting, 'a' | 'b'>,
): Comparison['partedBy'] => {
  if (a.first === null || b.first === null) return null;
  const side = b.starts && (!a.starts || b.first > a.first) ? 'b' : 'a';
  const seq = side === 'a' ? a.first : b.first;
  const how = findLineage(rows, history, seq)?.how === 'rollback' ? 'rollback' : 'fork';
  return { ...actSummary(rows, history, findAct(rows, history, seq)), how, side };
};
