import { isoTime } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { interventionIn, positionRef } from '@stemma/history';
import { lineageName, rememberedCommand, type Line } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import {
  findAct,
  findIntervention,
  listInterventions,
  listNotesAt,
  type InterventionQuery,
  type InterventionRow,
} from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { findPosition } from './find-position.ts';
import type {
  Annotation,
  Intervention,
  InterventionFilter,
  Interventions,
  InterventionWindow,
} from './intervention-types.ts';

const MOST = 1_000;

/** A page of the interventions of a history, oldest first or newest first (pool: Interventions). */
export const pageOfInterventions = async (
  projector: ServedRows,
  line: Line,
  filter: InterventionFilter,
  window: InterventionWindow,
): Promise<Interventions> => {
  await projector.catchUp();
  const { rows, next } = await projector.read((view) =>
    listInterventions(view, line.history, queryOf(view, line, filter, window)),
  );
  const interventions: Intervention[] = [];
  for (const row of rows) interventions.push(await tell(projector, line.history, row));
  return { interventions, next };
};

const queryOf = (
  rows: RowReader,
  line: Line,
  { snapshot, lineage, ...filter }: InterventionFilter,
  { from, newest, limit }: InterventionWindow,
): InterventionQuery => {
  const at = snapshot === undefined ? null : findPosition(rows, line, snapshot);
  return {
    ...filter,
    ...(at === null ? {} : { position: { strand: at.strand, seq: at.seq } }),
    ...(lineage === undefined ? {} : { strand: findPosition(rows, line, lineage).strand }),
    ...(from === undefined ? {} : { from }),
    ...(newest === true ? { reverse: true } : {}),
    limit: Math.min(limit ?? MOST, MOST),
  };
};

/**
 * Every intervention of a history that is asked for, oldest first, one after the other: as many as there are in memory
 * that does not grow with them. Those that are recorded while it runs may come too.
 */
export const eachIntervention = async function* (
  projector: ServedRows,
  line: Line,
  filter: InterventionFilter,
): AsyncIterable<Intervention> {
  for (let from: number | null = 0; from !== null;) {
    const page: Interventions = await pageOfInterventions(projector, line, filter, { from, limit: 500 });
    yield* page.interventions;
    from = page.next;
  }
};

/**
 * One intervention by its id (that of its command) or its frame (`@s57`, `57`).
 *
 * @throws E_INTERVENTION_NOT_FOUND
 */
export const oneIntervention = async (
  projector: ServedRows,
  history: string,
  id: string,
): Promise<Intervention> => {
  await projector.catchUp();
  return tell(projector, history, await findRow(projector, history, id));
};

/** @throws E_INTERVENTION_NOT_FOUND */
export const findRow = async (
  projector: ServedRows,
  history: string,
  id: string,
): Promise<InterventionRow> => {
  const row = await projector.read((view) => {
    const command = rememberedCommand(view, history, id);
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

const tell = async (projector: ServedRows, history: string, row: InterventionRow): Promise<Intervention> => {
  const { id, at, actor, type, before, after, notes, strand, seq } = row;
  const events = await projector.payloads.events(history, seq, { once: true });
  const facts = interventionIn({ history, seq, lineage: strand, author: { actor }, events });
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
    strand,
    seq,
    ...(await projector.read((view) => ({
      lineage: lineageName(view, history, strand),
      annotations: annotationsOf(view, history, row),
    }))),
  };
};

/** What was noted later, to the position after the intervention or to its own frame. */
const annotationsOf = (rows: RowReader, history: string, row: InterventionRow): readonly Annotation[] => {
  const own = { strand: row.strand, seq: row.seq };
  const places = own.strand === row.after.strand && own.seq === row.after.seq ? [own] : [row.after, own];
  return places
    .flatMap((place) => listNotesAt(rows, history, place))
    .filter(({ seq }) => seq > row.seq)
    .toSorted((a, b) => a.seq - b.seq)
    .map(({ seq, note }) => {
      const { at, actor, recorder } = findAct(rows, history, seq);
      return { seq, timestamp: isoTime(at), by: actor ?? recorder ?? '', note };
    });
};
