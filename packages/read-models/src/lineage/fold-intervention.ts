import { interventionIn, positionsAround, type AppliedFrame, type At } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import { INTERVENTIONS, INTERVENTIONS_BY, LINEAGES } from './tables.ts';

/** Writes what an observer did, before the counts of the frame's lineage move on (pool: Interventions). */
export const foldIntervention = (frame: AppliedFrame, rows: Rows): void => {
  const { author } = frame;
  const facts = interventionIn(frame);
  if (facts === null || !('actor' in author)) return;
  const { history, seq, lineage, at, command, events } = frame;
  const branch = events.find((event) => event.type === 'LineageStarted');
  const of = branch === undefined ? lineage : branch.parent;
  const previous = rows.get(LINEAGES, [history, of])?.[6] ?? null;
  const { before, after } = positionsAround(frame, previous as number | null);
  const [last] = rows.range(INTERVENTIONS, { prefix: [history], reverse: true, limit: 1 });
  const high = last?.value[2] as bigint | undefined;
  rows.put(
    INTERVENTIONS,
    [history, seq],
    [
      lineage,
      at,
      high !== undefined && high > at ? high : at,
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

/** A position as the index has it. */
export const placeOf = ({ strand, seq }: At): string => `${strand}:${seq}`;
