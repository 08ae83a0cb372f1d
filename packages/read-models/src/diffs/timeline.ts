import type { Cause, Explains } from '@stemma/history';
import type { RowReader } from '@stemma/row-store';
import { touchOf, type RecordedTouch } from './records.ts';
import { TIMELINE, TOUCHED } from './tables.ts';
import { cycleSeen, type Vista } from './vista.ts';

/** Something that happened to a node: event `index` of frame `seq` did it, for this cause. */
export type Moment = {
  readonly strand: number;
  readonly seq: number;
  readonly index: number;
  /** The cycle that ran; of a commit or import the one that it ended. */
  readonly cycle: number;
  readonly cause: Cause;
  readonly explains: Explains;
  /** Of ageing: the last of the cycles in a row whose commits took one off `ttl`, the first being `cycle`; else null. */
  readonly until: number | null;
  /** As it is from here on, where it was set: the parent's id, the `ttl` that is shown, the priority. */
  readonly parent?: string | null;
  readonly ttl?: number | null;
  readonly priority?: number;
};

/** What events did to a node in all lineages of a history, in the order of the record. Empty: there is no such node. */
export const touchesOfNode = (rows: RowReader, history: string, id: string): readonly RecordedTouch[] =>
  rows.range(TIMELINE, { prefix: [history, id] }).map(touchOf);

/** The nodes that the frames of a strand touched, `from` and `to` inclusive, each frame's in order. */
export const nodesTouched = (
  rows: RowReader,
  history: string,
  strand: number,
  from: number,
  to: number,
): readonly { readonly seq: number; readonly nodes: readonly string[] }[] =>
  rows
    .range(TOUCHED, { prefix: [history, strand], from, to })
    .map(({ key, value }) => ({ seq: key[2] as number, nodes: value[0] as readonly string[] }));

/**
 * The timeline of a node as seen from a position: how it came, all that happened to it on the chain of the position, how
 * it went; in order. What no event records for each node stands among it: when it was sealed, and when it aged (the
 * cycles in a row as one moment). Empty: it is not there and never was.
 */
export const timelineOf = (rows: RowReader, vista: Vista, id: string): readonly Moment[] => {
  const touches = touchesOfNode(rows, vista.history, id).filter(({ strand, seq }) => vista.sees(strand, seq));
  if (touches.length === 0) return [];
  const moments = touches.map(momentOf);
  const sealed = sealing(rows, vista, touches);
  if (sealed !== undefined) moments.push(sealed);
  moments.push(...agedBetween(rows, vista, touches, 0, vista.cycle));
  return moments.sort((a, b) => a.seq - b.seq || a.index - b.index);
};

const momentOf = (touch: RecordedTouch): Moment => {
  const { strand, seq, index, cycle, cause, explains, parent, ttl, priority } = touch;
  return {
    strand,
    seq,
    index,
    cycle,
    cause,
    explains,
    until: null,
    ...(parent === undefined ? {} : { parent }),
    ...(ttl === undefined ? {} : { ttl }),
    ...(priority === undefined ? {} : { priority }),
  };
};

/** The cycle in which it went, as far as is seen; else none. */
const goneIn = (touches: readonly RecordedTouch[]): number =>
  touches.find(({ explains }) => explains === 'removed')?.cycle ?? Infinity;

/** When the commit put it under a turn: what lay in the head at the end of a cycle never lies anywhere else again. */
const sealing = (rows: RowReader, vista: Vista, touches: readonly RecordedTouch[]): Moment | undefined => {
  const seals = touches.findLast((touch) => touch.parent !== undefined)?.seals ?? null;
  if (seals === null || seals > vista.cycle || goneIn(touches) <= seals) return undefined;
  const commit = cycleSeen(rows, vista, seals);
  if (commit?.turn == null) return undefined;
  const { strand, seq, cycle, turn } = commit;
  const cause: Cause = { kind: 'sealing', turn: turn.id };
  return { strand, seq, index: turn.index, cycle, cause, explains: ['parent'], until: null, parent: turn.id };
};

/**
 * The commits of cycles `low` + 1 … `high` that took one off the `ttl` of a node: it shows N until cycle E − 1 − N, and one
 * less with each cycle to E − 1, E being the first without it (snapshots: expires).
 */
export const agedBetween = (
  rows: RowReader,
  vista: Vista,
  touches: readonly RecordedTouch[],
  low: number,
  high: number,
): readonly Moment[] => {
  const gone = goneIn(touches);
  const settings = touches.filter(({ expires }) => expires !== undefined);
  return settings.flatMap(({ ttl, expires }, i): readonly Moment[] => {
    if (typeof ttl !== 'number' || typeof expires !== 'number') return [];
    const next = settings[i + 1]?.cycle ?? Infinity;
    const first = Math.max(expires - ttl, low + 1);
    const last = Math.min(expires - 1, high, gone - 1, next - 1);
    const commit = first > last ? undefined : cycleSeen(rows, vista, first);
    if (commit === undefined) return [];
    const { strand, seq, index, cycle } = commit;
    return [
      {
        strand,
        seq,
        index,
        cycle,
        cause: { kind: 'ageing' },
        explains: ['ttl'],
        until: last,
        ttl: expires - 1 - last,
      },
    ];
  });
};
