import {
  INTERVENTIONS as TYPES,
  type BranchPosition,
  type InterventionType,
  type ObservationKind,
} from '@stemma/events';
import { findRow, listRows, type NamedRow, type RowReader } from '@stemma/row-store';
import { positionIndexKey } from './fold.ts';
import { INTERVENTIONS, INTERVENTIONS_BY, OBSERVATIONS } from './tables.ts';

/** An intervention, read from its row; `content` must be read from its frame. */
export type InterventionRow = {
  /** The frame that records it. */
  readonly seq: number;
  /** The branch it happened on; for a fork or rollback the one it started. */
  readonly branchId: number;
  /** Nanoseconds since 1970. */
  readonly at: bigint;
  readonly type: InterventionType;
  readonly actor: string;
  /** Its id: that of its command. */
  readonly id: string;
  readonly before: BranchPosition | null;
  readonly after: BranchPosition;
  readonly notes: string;
};

/** Filters, all of which must match. Times are nanoseconds since 1970. */
export type InterventionQuery = {
  readonly type?: InterventionType;
  readonly actor?: string;
  readonly branchId?: number;
  /** The position before or after it. */
  readonly position?: BranchPosition;
  readonly after?: bigint;
  readonly before?: bigint;
  /** From this frame on; `reverse`: from this frame back. */
  readonly from?: number;
  readonly reverse?: boolean;
  /** Default 1,000. */
  readonly limit?: number;
};

/** A page, and the `from` of the next one; null: there is no more. */
export type InterventionPage = { readonly rows: readonly InterventionRow[]; readonly next: number | null };

/** The most rows that are read for one page; so a short page may still have a next one. */
const MAX_EXAMINED = 20_000;

/** The interventions of a history, oldest or newest first. */
export const listInterventions = (
  rows: RowReader,
  history: string,
  query: InterventionQuery = {},
): InterventionPage => {
  const { limit = 1_000, reverse = false } = query;
  const found: InterventionRow[] = [];
  let from = firstCandidate(rows, history, query);
  for (let examined = 0; examined < MAX_EXAMINED;) {
    const page = candidates(rows, history, query, from, Math.min(limit + 1, 2_000));
    for (const row of page) {
      if (found.length === limit) return { rows: found, next: row.seq };
      if (matches(row, query)) found.push(row);
    }
    const last = page.at(-1);
    if (last === undefined) return { rows: found, next: null };
    from = reverse ? last.seq - 1 : last.seq + 1;
    if (from < 0) return { rows: found, next: null };
    examined += page.length;
  }
  return { rows: found, next: from ?? null };
};

/** The intervention that a frame records. */
export const findIntervention = (
  rows: RowReader,
  history: string,
  seq: number,
): InterventionRow | undefined => {
  const row = findRow(rows, INTERVENTIONS, { history, seq });
  return row && interventionOf(row);
};

/**
 * Where to begin: every intervention before the first whose `high_at` reaches `after` is older than that. Found by
 * halving, since `high_at` never falls.
 */
const firstCandidate = (rows: RowReader, history: string, query: InterventionQuery): number | undefined => {
  const { after, from, reverse = false } = query;
  if (after === undefined || reverse) return from;
  const [newest] = listRows(rows, INTERVENTIONS, { history }, { reverse: true, limit: 1 });
  let [low, high] = [from ?? 0, newest === undefined ? 0 : newest.seq + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [row] = listRows(rows, INTERVENTIONS, { history }, { from: middle, limit: 1 });
    if (row !== undefined && row.high_at < after) low = row.seq + 1;
    else high = middle;
  }
  return low;
};

/** The entries, from a frame on, of the index that matches the fewest rows. */
const candidates = (
  rows: RowReader,
  history: string,
  query: InterventionQuery,
  from: number | undefined,
  limit: number,
): readonly InterventionRow[] => {
  const { reverse = false } = query;
  const bounds = { reverse, limit, ...(from === undefined ? {} : reverse ? { to: from } : { from }) };
  const index = indexOf(query);
  if (index === null) return listRows(rows, INTERVENTIONS, { history }, bounds).map(interventionOf);
  return listRows(rows, INTERVENTIONS_BY, { history, ...index }, bounds)
    .map(({ seq }) => findIntervention(rows, history, seq))
    .filter((row) => row !== undefined);
};

const indexOf = ({
  position,
  actor,
  type,
  branchId,
}: InterventionQuery): { readonly by: string; readonly what: string } | null => {
  if (position !== undefined) return { by: 'position', what: positionIndexKey(position) };
  if (actor !== undefined) return { by: 'actor', what: actor };
  if (type !== undefined) return { by: 'type', what: type };
  return branchId === undefined ? null : { by: 'branch', what: String(branchId) };
};

const isSamePosition = (a: BranchPosition | null, b: BranchPosition): boolean =>
  a !== null && a.branchId === b.branchId && a.seq === b.seq;

const matches = (row: InterventionRow, query: InterventionQuery): boolean =>
  (query.type === undefined || row.type === query.type) &&
  (query.actor === undefined || row.actor === query.actor) &&
  (query.branchId === undefined || row.branchId === query.branchId) &&
  (query.position === undefined ||
    isSamePosition(row.before, query.position) ||
    isSamePosition(row.after, query.position)) &&
  (query.after === undefined || row.at >= query.after) &&
  (query.before === undefined || row.at < query.before);

const interventionOf = (row: NamedRow<typeof INTERVENTIONS>): InterventionRow => ({
  seq: row.seq,
  branchId: row.branch_id,
  at: row.at,
  type: TYPES.find((each) => each === row.intervention) ?? 'edit',
  actor: row.actor,
  id: row.command,
  before: row.before_seq === null ? null : { branchId: row.before_branch_id as number, seq: row.before_seq },
  after: { branchId: row.after_branch_id, seq: row.after_seq },
  notes: row.notes ?? '',
});

export type ObservationRow = {
  readonly seq: number;
  readonly index: number;
  readonly actor: string;
  readonly kind: ObservationKind;
  readonly what: string;
  /** The position that was seen. */
  readonly at: BranchPosition;
  readonly times: number;
  /** Nanoseconds since 1970. */
  readonly firstAt: bigint;
  readonly lastAt: bigint;
  /** The branch that was named in the question. */
  readonly branchId: number;
};

/** What named actors looked at, in the order it was recorded (pool: Observations). */
export const listObservations = (
  rows: RowReader,
  history: string,
  { from = 0, limit = 1_000, actor }: { from?: number; limit?: number; actor?: string } = {},
): readonly ObservationRow[] =>
  listRows(rows, OBSERVATIONS, { history }, { from, limit })
    .map((row): ObservationRow => ({
      seq: row.seq,
      index: row.index,
      actor: row.actor as string,
      kind: row.kind as ObservationKind,
      what: row.what,
      at: { branchId: row.branch_id, seq: row.position },
      times: row.times,
      firstAt: row.first_at,
      lastAt: row.last_at,
      branchId: row.asked_branch_id,
    }))
    .filter((row) => actor === undefined || row.actor === actor);
