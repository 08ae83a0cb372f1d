import { namedPosition } from '@stemma/events';
import type { AppliedFrame } from '@stemma/history';
import type { Cell, Rows } from '@stemma/row-store';
import { foldIntervention } from './fold-intervention.ts';
import { ACTS, COMMITS, HISTORIES, LINEAGES, NAMED, NOTES, OBSERVATIONS } from './tables.ts';

/** Writes who did what when in one frame. */
export const foldLineage = (frame: AppliedFrame, rows: Rows): void => {
  const { history, seq, lineage, at, events, command, author } = frame;
  const recorder = 'recorder' in author ? author.recorder : null;
  const actor = 'actor' in author ? author.actor : null;
  rows.put(ACTS, [history, seq], [lineage, at, events.length, command, recorder, actor]);
  foldHistory(frame, rows);
  foldIntervention(frame, rows);
  foldStrand(frame, rows);
  foldCommit(frame, rows);
  events.forEach((event, index) => {
    const named = namedPosition(event);
    if (named !== null) rows.put(NAMED, [history, named.name], [named.strand, named.seq, seq]);
    else if (event.type === 'PositionAnnotated')
      rows.put(NOTES, [history, event.strand, event.seq, seq, index], [event.note]);
  });
};

/** Observations count for the history, and for no lineage. */
export const observeLineage = (frame: AppliedFrame, rows: Rows): void => {
  const { history, seq, lineage, at, events, command, author } = frame;
  const actor = 'actor' in author ? author.actor : null;
  rows.put(ACTS, [history, seq], [lineage, at, events.length, command, null, actor, true]);
  foldHistory(frame, rows);
  events.forEach((event, index) => {
    if (event.type !== 'ObservationRecorded') return;
    const { kind, what, strand, times, first_at, last_at } = event;
    rows.put(
      OBSERVATIONS,
      [history, seq, index],
      [actor, kind, what, strand, event.seq, times, first_at, last_at, lineage],
    );
  });
};

const foldHistory = ({ history, seq, at, events, snapshot }: AppliedFrame, rows: Rows): void => {
  const news = snapshot === null ? 0 : 1;
  const event = events.find((each) => each.type === 'HistoryStarted');
  if (event !== undefined) {
    const { name, thread, source, salvaged } = event;
    const from: Cell[] = [
      source?.format ?? null,
      source?.sha256 ?? null,
      salvaged?.history ?? null,
      salvaged?.seq ?? null,
    ];
    rows.put(HISTORIES, [history], [name, at, at, 1, events.length, seq, news, thread, ...from]);
    return;
  }
  const row = rows.get(HISTORIES, [history]);
  if (row === undefined) return;
  const [name, startedAt, , frames, count, , snapshots] = row;
  const rest = row.slice(7);
  rows.put(
    HISTORIES,
    [history],
    [
      name as Cell,
      startedAt as Cell,
      at,
      (frames as number) + 1,
      (count as number) + events.length,
      seq,
      (snapshots as number) + news,
      ...rest,
    ],
  );
};

const foldStrand = (
  { history, seq, lineage, at, events, snapshot, started }: AppliedFrame,
  rows: Rows,
): void => {
  const news = snapshot === null ? 0 : 1;
  if (started !== null) {
    const [parent, position] = started.how === 'start' ? [null, null] : [started.parent, started.at];
    const event = events.find((each) => each.type === 'LineageStarted');
    const name = event === undefined ? 'main' : event.name;
    rows.put(
      LINEAGES,
      [history, lineage],
      [started.how, name, at, at, 1, events.length, seq, news, parent, position],
    );
    if (event?.how === 'rollback') foldAbandoned(history, lineage, event.parent, event.abandoned, rows);
    return;
  }
  const row = rows.get(LINEAGES, [history, lineage]);
  if (row === undefined) return;
  const [how, name, startedAt, , frames, count, , snapshots, ...rest] = row;
  rows.put(
    LINEAGES,
    [history, lineage],
    [
      how as Cell,
      name as Cell,
      startedAt as Cell,
      at,
      (frames as number) + 1,
      (count as number) + events.length,
      seq,
      (snapshots as number) + news,
      ...rest,
    ],
  );
};

/** The lineage that a rollback leaves: its name has moved on. */
const foldAbandoned = (history: string, by: number, left: number, name: string | null, rows: Rows): void => {
  const row = rows.get(LINEAGES, [history, left]);
  if (row === undefined) return;
  const [how, , ...rest] = row;
  rows.put(LINEAGES, [history, left], [how as Cell, name, ...rest.slice(0, 8), by]);
};

const foldCommit = ({ history, seq, lineage, snapshot, events }: AppliedFrame, rows: Rows): void => {
  if (snapshot === null) return;
  const { cycle, counts, treeHash, threadHash } = snapshot;
  const imported = events.some((event) => event.type === 'SnapshotImported') ? true : null;
  rows.put(
    COMMITS,
    [history, lineage, cycle],
    [seq, counts.nodes, counts.blocks, counts.turns, treeHash, threadHash, imported],
  );
};
