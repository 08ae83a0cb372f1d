import {
  authorOf,
  findBranch,
  findFrameSummary,
  findIntervention,
  type FrameSummary,
} from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { millisecondsOf } from '@stemma/values';
import { frameSummariesBetween, type BranchSide, type MergeBase } from '../merge-base.ts';
import type { ComparedFrame, ComparedSide, Comparison } from './types.ts';

const MAX_INTERVENTIONS = 200;

export type SideFrames = Pick<ComparedSide, 'first' | 'frames' | 'interventionFrames' | 'interventions'>;

/** The frames of a side after the merge base, counted in one pass over those of the history. */
export const countSideFrames = (
  rows: RowReader,
  history: string,
  mergeBase: number,
  { segments, first }: BranchSide,
): SideFrames => {
  if (first === null) return { first: null, frames: 0, interventionFrames: [], interventions: 0 };
  const limits = new Map(segments.map(({ branchId, limit }) => [branchId, limit]));
  const interventionFrames: ComparedFrame[] = [];
  let frames = 0;
  let interventions = 0;
  for (const frameSummary of frameSummariesBetween(
    rows,
    history,
    mergeBase + 1,
    Math.max(...limits.values()),
  )) {
    if (frameSummary.observed || frameSummary.seq > (limits.get(frameSummary.branchId) ?? -1)) continue;
    frames++;
    if (frameSummary.actor === null) continue;
    interventions++;
    if (interventionFrames.length < MAX_INTERVENTIONS)
      interventionFrames.push(comparedFrame(rows, history, frameSummary));
  }
  return {
    first: comparedFrame(rows, history, findFrameSummary(rows, history, first)),
    frames,
    interventionFrames,
    interventions,
  };
};

export const comparedFrame = (
  rows: RowReader,
  history: string,
  frameSummary: FrameSummary,
): ComparedFrame => {
  const row = findIntervention(rows, history, frameSummary.seq);
  return {
    seq: frameSummary.seq,
    branchId: frameSummary.branchId,
    at: millisecondsOf(frameSummary.at),
    author: authorOf(frameSummary),
    command: frameSummary.command,
    intervention: row === undefined ? null : { type: row.type, notes: row.notes },
  };
};

/**
 * The fork or rollback by which two sides diverged. If each side started a branch, it is the later of the two: before that,
 * one position was on the other's ancestor path.
 */
export const divergedBy = (
  rows: RowReader,
  history: string,
  { a, b }: Pick<MergeBase, 'a' | 'b'>,
): Comparison['divergedBy'] => {
  if (a.first === null || b.first === null) return null;
  const side = b.startsBranch && (!a.startsBranch || b.first > a.first) ? 'b' : 'a';
  const seq = side === 'a' ? a.first : b.first;
  const how = findBranch(rows, history, seq)?.how === 'rollback' ? 'rollback' : 'fork';
  return { ...comparedFrame(rows, history, findFrameSummary(rows, history, seq)), how, side };
};
