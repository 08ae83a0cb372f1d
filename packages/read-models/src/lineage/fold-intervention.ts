import { interventionIn, positionsAround, type AppliedFrame, type At } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import { HISTORIES, INTERVENTIONS, INTERVENTIONS_BY, LINEAGES } from './tables.ts';

/** Writes what an observer did, after the history's row and before the counts of the lineage move on (pool: Interventions). */
export const foldIntervention = (frame: AppliedFrame, rows: Rows): void => {
  const { author } = frame;
  const facts = interventionIn(frame);
  if (facts === null || !('actor' in author)) return;
  const { history, seq, lineage, at, command, events } = frame;
  const branch = events.find((event) => event.type === 'LineageStarted');
  const of = branch === undefined ? lineage : branch.parent;
  const previous = rows.get(LINEAGES, [history, of])?.[6] ?? null;
  const { before, after } = positionsAround(frame, previous as number | null);
  const high = raiseHighest(frame, rows);
  rows.put(
    INTERVENTIONS,
    [history, seq],
    [
      lineage,
      at,
      high,
      facts.type,
      author.actor,
      command,
      after.strand,
      after.seq,
      before?.strand ?? null,
      before?.seq ?? null,
      facts.notes === '' ? null : facts.notes,
    ],
  );
  const index = (by: string, what: string): void => {
    rows.put(INTERVENTIONS_BY, [history, by, what, seq], []);
  };
  index('type', facts.type);
  index('actor', author.actor);
  index('lineage', String(lineage));
  index('position', placeOf(after));
  if (before !== null && placeOf(before) !== placeOf(after)) index('position', placeOf(before));
};

/** The column `intervened_at` of a history. */
const INTERVENED_AT = 12;

/** Kept with the history: to look for the newest row would cost what else is written in the same batch. */
const raiseHighest = ({ history, at }: AppliedFrame, rows: Rows): bigint => {
  const row = rows.get(HISTORIES, [history]);
  const known = (row?.[INTERVENED_AT] ?? null) as bigint | null;
  const highest = known !== null && known > at ? known : at;
  if (row !== undefined) rows.put(HISTORIES, [history], [...row.slice(0, INTERVENED_AT), highest]);
  return highest;
};

/** A position as the index has it. */
export const placeOf = ({ strand, seq }: At): string => `${strand}:${seq}`;
