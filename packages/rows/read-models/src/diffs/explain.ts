import type { PayloadSource, TreeDiff } from '@stemma/context-tree';
import type { BranchPosition } from '@stemma/events';
import type { Segment } from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';
import { collect } from '@stemma/suspend';
import { commonAncestry, readAncestryView, type AncestryView } from './ancestry-view.ts';
import { entriesChangingField } from './field-changes.ts';
import { ageingEntries, readNodeChanges, readTimeline, type TimelineEntry } from './timeline.ts';

/** A moment on the way from one position to another, and the fields of the entry that it accounts for. */
export type DiffCause = TimelineEntry & {
  /** The fields of a changed node; empty if it was inserted or removed. */
  readonly fields: readonly string[];
  /** True for a moment between the common position and `a`: on the way from `a` to `b` it is undone. */
  readonly undone: boolean;
};

export type ExplainedEntry = {
  readonly id: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** The fields of the diff's entry; empty if the node was inserted or removed. */
  readonly fields: readonly string[];
  /** First the moments that are undone, newest first; then those that happened, oldest first. */
  readonly causes: readonly DiffCause[];
};

export type DiffExplanation = {
  /** The last position that both have in common. */
  readonly mergeBase: Segment & { readonly cycle: number };
  readonly entries: readonly ExplainedEntry[];
};

/**
 * The causes of every entry of the diff of two positions of a history (context-tree §3, §7): an insertion or removal has exactly
 * one; a field has one for each time that it changed, so exactly one between consecutive positions. The path
 * leads back from `a` to the last common position, and on to `b`.
 *
 * @throws Missing (payloads) for what was replaced; E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const explainDiff = (
  rows: RowReader,
  history: string,
  { a, b, diff }: { readonly a: BranchPosition; readonly b: BranchPosition; readonly diff: TreeDiff },
  source: PayloadSource,
): DiffExplanation => {
  const [from, to] = [a, b].map(({ branchId, seq }) => readAncestryView(rows, history, branchId, seq)) as [
    AncestryView,
    AncestryView,
  ];
  const mergeBase = commonAncestry(rows, from, to);
  const sides = (id: string): readonly DiffSide[] => [
    readSide(rows, from, mergeBase, id, true),
    readSide(rows, to, mergeBase, id, false),
  ];
  const entries = collect((attempt): ExplainedEntry[] => {
    const collecting: PayloadSource = (ref) => attempt(source, ref, {});
    return [
      ...diff.added.map((id): ExplainedEntry => addedOrRemoved(id, 'added', sides(id))),
      ...diff.removed.map((id): ExplainedEntry => addedOrRemoved(id, 'removed', sides(id))),
      ...diff.changed.map(({ id, fields }): ExplainedEntry => ({
        id,
        change: 'changed',
        fields,
        causes: sides(id).flatMap((side) => changes(rows, side, fields, collecting)),
      })),
    ];
  });
  return { mergeBase: { ...mergeBase.mergeBase, cycle: mergeBase.cycle }, entries };
};

/** A node at one of the two positions, and the moments that the other does not have. */
type DiffSide = {
  readonly id: string;
  readonly ancestry: AncestryView;
  readonly mergeBase: AncestryView;
  readonly timeline: readonly TimelineEntry[];
  readonly undone: boolean;
};

const readSide = (
  rows: RowReader,
  ancestry: AncestryView,
  mergeBase: AncestryView,
  id: string,
  undone: boolean,
): DiffSide => ({
  id,
  ancestry,
  mergeBase,
  timeline: readTimeline(rows, ancestry, id),
  undone,
});

const ownEntries = ({ mergeBase, timeline }: DiffSide): readonly TimelineEntry[] =>
  timeline.filter(({ branchId, seq }) => !mergeBase.includes(branchId, seq));

/**
 * An id is never used twice, so a position sees at most one insertion and one removal: if only `b` has the node,
 * either it was inserted on the way to `b`, or its removal on the way to `a` is undone.
 */
const addedOrRemoved = (
  id: string,
  change: 'added' | 'removed',
  sides: readonly DiffSide[],
): ExplainedEntry => ({
  id,
  change,
  fields: [],
  causes: sides.flatMap((side) => {
    const wanted = side.undone === (change === 'added') ? 'removed' : 'added';
    return ownEntries(side)
      .filter(({ explains }) => explains === wanted)
      .map((timelineEntry) => ({ ...timelineEntry, fields: [], undone: side.undone }));
  }),
});

const changes = (
  rows: RowReader,
  side: DiffSide,
  fields: readonly string[],
  source: PayloadSource,
): readonly DiffCause[] => {
  const byEvent = new Map<string, { readonly timelineEntry: TimelineEntry; readonly fields: string[] }>();
  const own = new Set(ownEntries(side));
  for (const field of fields) {
    const found =
      field === 'ttl'
        ? ageingOf(rows, side)
        : entriesChangingField(side.timeline, field, source).filter((each) => own.has(each));
    for (const timelineEntry of found) {
      const key = `${timelineEntry.seq}.${timelineEntry.index}`;
      const known = byEvent.get(key);
      if (known === undefined) byEvent.set(key, { timelineEntry, fields: [field] });
      else known.fields.push(field);
    }
  }
  const causes = [...byEvent.values()].map(({ timelineEntry, fields: causeFields }) => ({
    ...timelineEntry,
    fields: causeFields,
    undone: side.undone,
  }));
  causes.sort((x, y) => x.seq - y.seq || x.index - y.index);
  return side.undone ? causes.reverse() : causes;
};

/** The ageing on this side only: a run of cycles may begin before the common position. */
const ageingOf = (rows: RowReader, { id, ancestry, mergeBase }: DiffSide): readonly TimelineEntry[] => {
  const nodeChanges = readNodeChanges(rows, ancestry.history, id).filter(({ branchId, seq }) =>
    ancestry.includes(branchId, seq),
  );
  return ageingEntries(rows, ancestry, nodeChanges, mergeBase.cycle, ancestry.cycle);
};
