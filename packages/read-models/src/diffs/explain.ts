import type { Diff, PayloadSource } from '@stemma/context-tree';
import type { Link } from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';
import { collect } from '@stemma/suspend';
import { effectsOn } from './effects.ts';
import { agedBetween, timelineOf, touchesOfNode, type Moment } from './timeline.ts';
import { commonVista, vistaFrom, type Vista } from './vista.ts';

/** A moment on the way from one position to another, and the fields of the entry that it accounts for. */
export type WayMoment = Moment & {
  /** Of what changed; empty for what came or went. */
  readonly fields: readonly string[];
  /** It lies on the way back to the last position that both have in common: seen from there it did not happen. */
  readonly undone: boolean;
};

export type ExplainedEntry = {
  readonly id: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** As the diff has them; empty for what came or went. */
  readonly fields: readonly string[];
  /** In the order of the way: what is undone first, the newest first; then what happened, the oldest first. */
  readonly causes: readonly WayMoment[];
};

export type Place = { readonly strand: number; readonly seq: number };

export type Explained = {
  /** The last position that both have in common. */
  readonly common: Link & { readonly cycle: number };
  readonly entries: readonly ExplainedEntry[];
};

/**
 * The causes of every entry of the diff of two positions of a history (context-tree §3, §7): what came or went has exactly
 * one; a field has one for each time that it changed on the way, so exactly one between consecutive positions. The way
 * leads back from `a` to what both have in common, and on to `b`.
 *
 * @throws Missing (payloads) for what was replaced; E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND
 */
export const explainDiff = (
  rows: RowReader,
  history: string,
  { a, b, diff }: { readonly a: Place; readonly b: Place; readonly diff: Diff },
  source: PayloadSource,
): Explained => {
  const [from, to] = [a, b].map(({ strand, seq }) => vistaFrom(rows, history, strand, seq)) as [Vista, Vista];
  const common = commonVista(rows, from, to);
  const sides = (id: string): readonly Side[] => [
    sideOf(rows, from, common, id, true),
    sideOf(rows, to, common, id, false),
  ];
  const entries = collect((attempt): ExplainedEntry[] => {
    const patient: PayloadSource = (ref) => attempt(source, ref, {});
    return [
      ...diff.added.map((id): ExplainedEntry => presence(id, 'added', sides(id))),
      ...diff.removed.map((id): ExplainedEntry => presence(id, 'removed', sides(id))),
      ...diff.changed.map(({ id, fields }): ExplainedEntry => ({
        id,
        change: 'changed',
        fields,
        causes: sides(id).flatMap((side) => changes(rows, side, fields, patient)),
      })),
    ];
  });
  return { common: { ...common.at, cycle: common.cycle }, entries };
};

/** A node as one of the two positions sees it, and what of that the other does not see. */
type Side = {
  readonly id: string;
  readonly vista: Vista;
  readonly common: Vista;
  readonly timeline: readonly Moment[];
  readonly undone: boolean;
};

const sideOf = (rows: RowReader, vista: Vista, common: Vista, id: string, undone: boolean): Side => ({
  id,
  vista,
  common,
  timeline: timelineOf(rows, vista, id),
  undone,
});

const onlyHere = ({ common, timeline }: Side): readonly Moment[] =>
  timeline.filter(({ strand, seq }) => !common.sees(strand, seq));

/**
 * An id is never used twice, so it came once and went once at the most in all that a position sees: if only `b` has it,
 * either it came on the way to `b`, or its going on the way to `a` is undone.
 */
const presence = (id: string, change: 'added' | 'removed', sides: readonly Side[]): ExplainedEntry => ({
  id,
  change,
  fields: [],
  causes: sides.flatMap((side) => {
    const wanted = side.undone === (change === 'added') ? 'removed' : 'added';
    return onlyHere(side)
      .filter(({ explains }) => explains === wanted)
      .map((moment) => ({ ...moment, fields: [], undone: side.undone }));
  }),
});

const changes = (
  rows: RowReader,
  side: Side,
  fields: readonly string[],
  source: PayloadSource,
): readonly WayMoment[] => {
  const found = new Map<string, { readonly moment: Moment; readonly fields: string[] }>();
  const own = new Set(onlyHere(side));
  for (const field of fields) {
    const effects =
      field === 'ttl'
        ? aged(rows, side)
        : effectsOn(side.timeline, field, source).filter((each) => own.has(each));
    for (const moment of effects) {
      const key = `${moment.seq}.${moment.index}`;
      const known = found.get(key);
      if (known === undefined) found.set(key, { moment, fields: [field] });
      else known.fields.push(field);
    }
  }
  const way = [...found.values()].map(({ moment, fields: of }) => ({
    ...moment,
    fields: of,
    undone: side.undone,
  }));
  way.sort((x, y) => x.seq - y.seq || x.index - y.index);
  return side.undone ? way.reverse() : way;
};

/** The ageing on this side only: a run of cycles may begin before the positions part. */
const aged = (rows: RowReader, { id, vista, common }: Side): readonly Moment[] => {
  const touches = touchesOfNode(rows, vista.history, id).filter(({ strand, seq }) => vista.sees(strand, seq));
  return agedBetween(rows, vista, touches, common.cycle, vista.cycle);
};
