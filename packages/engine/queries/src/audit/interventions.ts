import { isoTime } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { interventionIn, positionRef } from '@stemma/history';
import { branchAddressOf, findCommand, type BranchRef } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import {
  findFrameSummary,
  findIntervention,
  listInterventions,
  listNotesAt,
  type InterventionQuery,
  type InterventionRow,
} from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { defined } from '@stemma/values';
import { findPosition } from './find-position.ts';
import type {
  Annotation,
  Intervention,
  InterventionFilter,
  Interventions,
  InterventionWindow,
} from './intervention-types.ts';
import { catchUpWith } from '../catch-up-with.ts';

const MAX_PAGE = 1_000;

/** A page of the interventions of a history, oldest first or newest first (pool: Interventions). */
export const listInterventionPage = async (
  projection: Projection,
  branchRef: BranchRef,
  filter: InterventionFilter,
  window: InterventionWindow,
): Promise<Interventions> => {
  await catchUpWith(projection, branchRef.history);
  const { rows, next } = await projection.read((view) =>
    listInterventions(view, branchRef.history, queryOf(view, branchRef, filter, window)),
  );
  const interventions: Intervention[] = [];
  for (const row of rows) interventions.push(await describeIntervention(projection, branchRef.history, row));
  return { interventions, next };
};

const queryOf = (
  rows: RowReader,
  branchRef: BranchRef,
  { snapshot, branch, ...filter }: InterventionFilter,
  { from, newest, limit }: InterventionWindow,
): InterventionQuery => {
  const at = snapshot === undefined ? null : findPosition(rows, branchRef, snapshot);
  return {
    ...filter,
    ...(at === null ? {} : { position: { branchId: at.branchId, seq: at.seq } }),
    ...(branch === undefined ? {} : { branchId: findPosition(rows, branchRef, branch).branchId }),
    ...defined({ from }),
    ...(newest === true ? { reverse: true } : {}),
    limit: Math.min(limit ?? MAX_PAGE, MAX_PAGE),
  };
};

/**
 * Every intervention of a history that the filter selects, one by one, oldest first, in memory that does not grow with
 * their number. It may include interventions that are recorded while it runs.
 */
export const eachIntervention = async function* (
  projection: Projection,
  branchRef: BranchRef,
  filter: InterventionFilter,
): AsyncIterable<Intervention> {
  for (let from: number | null = 0; from !== null;) {
    const page: Interventions = await listInterventionPage(projection, branchRef, filter, {
      from,
      limit: 500,
    });
    yield* page.interventions;
    from = page.next;
  }
};

/**
 * One intervention by its id (that of its command) or its frame (`@s57`, `57`).
 *
 * @throws E_INTERVENTION_NOT_FOUND
 */
export const findInterventionById = async (
  projection: Projection,
  history: string,
  id: string,
): Promise<Intervention> => {
  await catchUpWith(projection, history);
  return describeIntervention(projection, history, await findInterventionRow(projection, history, id));
};

/** The row of an intervention, by its id or frame. @throws E_INTERVENTION_NOT_FOUND */
export const findInterventionRow = async (
  projection: Projection,
  history: string,
  id: string,
): Promise<InterventionRow> => {
  const row = await projection.read((view) => {
    const command = findCommand(view, history, id);
    const frame = /^(?:@?s)?(\d{1,15})$/.exec(id);
    const seq = command?.seq ?? (frame === null ? undefined : Number(frame[1]));
    return seq === undefined ? undefined : findIntervention(view, history, seq);
  });
  if (row === undefined)
    throw fail(
      'E_INTERVENTION_NOT_FOUND',
      `${history} has no intervention ${JSON.stringify(id.slice(0, 300))}`,
      {
        history,
      },
    );
  return row;
};

const describeIntervention = async (
  projection: Projection,
  history: string,
  row: InterventionRow,
): Promise<Intervention> => {
  const { id, at, actor, type, before, after, notes, branchId, seq } = row;
  const events = await projection.payloads.events(history, seq, { once: true });
  const facts = interventionIn({ history, seq, branchId, author: { actor }, events });
  return {
    id,
    timestamp: isoTime(at),
    actor,
    intervention_type: type,
    content: facts?.content ?? {},
    snapshot_before: before === null ? null : positionRef(before),
    snapshot_after: positionRef(after),
    notes,
    history,
    branchId,
    seq,
    ...(await projection.read((view) => ({
      branch: branchAddressOf(view, history, branchId),
      annotations: annotationsOf(view, history, row),
    }))),
  };
};

/** Later notes about the position after the intervention, or about its own frame. */
const annotationsOf = (rows: RowReader, history: string, row: InterventionRow): readonly Annotation[] => {
  const own = { branchId: row.branchId, seq: row.seq };
  const positions =
    own.branchId === row.after.branchId && own.seq === row.after.seq ? [own] : [row.after, own];
  return positions
    .flatMap((position) => listNotesAt(rows, history, position))
    .filter(({ seq }) => seq > row.seq)
    .toSorted((a, b) => a.seq - b.seq)
    .map(({ seq, note }) => {
      const { at, actor, recorder } = findFrameSummary(rows, history, seq);
      return { seq, timestamp: isoTime(at), by: actor ?? recorder ?? '', note };
    });
};
