import { changedFields, type FlatTree, type PayloadSource } from '@stemma/context-tree';
import type { AppliedFrame } from '../applied-frame.ts';
import type { Cause } from './cause.ts';
import { nodeChangesOf } from './node-changes.ts';

/** One difference between two positions a frame apart, with its one cause: event `index` of the frame. */
export type Attributed = {
  readonly id: string;
  readonly what: 'added' | 'removed' | 'changed';
  /** The changed field, by the name that a diff gives it; else null. */
  readonly field: string | null;
  readonly index: number;
  readonly cause: Cause;
};

type Reason = { readonly index: number; readonly cause: Cause };

/**
 * Every difference that a frame made, each with exactly one cause (context-tree §3: one cause): a node in `after` and
 * not in `before` was added, and so on, as in a diff. If several events of a frame contribute to one difference, the
 * last that set the value is its cause; what they undid among themselves is none. Added ids in the order of `after`,
 * removed ids in that of `before`, then changes in that of `after`, fields sorted.
 *
 * The causes come from the frame's events alone; the trees only show which values differ. This proves that a diff of
 * two consecutive positions has no entry without a cause, and that no cause is claimed for a value that does not
 * differ.
 *
 * @param before the position that the frame was applied to; null for the first of a history.
 * @throws Missing (payloads) for nodes whose content was replaced.
 */
export const attributeFrame = (
  frame: AppliedFrame,
  before: FlatTree | null,
  after: FlatTree,
  source: PayloadSource,
): readonly Attributed[] => {
  const added = new Map<string, Reason>();
  const removed = new Map<string, Reason>();
  const fields = new Map<string, Map<string, Reason>>();
  const note = (id: string, field: string, reason: Reason): void => {
    const known = fields.get(id);
    if (known === undefined) fields.set(id, new Map([[field, reason]]));
    else known.set(field, reason);
  };
  for (const { id, index, cause, explains } of nodeChangesOf(frame)) {
    if (explains === 'added') added.set(id, { index, cause });
    else if (explains === 'removed') removed.set(id, { index, cause });
    else for (const field of explains) note(id, field, { index, cause });
  }
  noteSealed(frame, after, note);
  noteAged(frame, before, after, note);

  const was = (id: string): number | undefined => before?.indexOf(id);
  const entries: Attributed[] = [];
  const ordered = (ids: Iterable<string>, tree: FlatTree): string[] =>
    [...ids].sort((a, b) => (tree.indexOf(a) ?? -1) - (tree.indexOf(b) ?? -1));
  const came = [...added.keys()].filter((id) => was(id) === undefined && after.indexOf(id) !== undefined);
  for (const id of ordered(came, after))
    entries.push({ id, what: 'added', field: null, ...(added.get(id) as Reason) });
  const went = [...removed.keys()].filter((id) => was(id) !== undefined && after.indexOf(id) === undefined);
  for (const id of ordered(went, before ?? after))
    entries.push({ id, what: 'removed', field: null, ...(removed.get(id) as Reason) });
  for (const id of ordered(fields.keys(), after)) {
    const [from, to] = [was(id), after.indexOf(id)];
    if (before === null || from === undefined || to === undefined) continue;
    for (const field of changedFields(before, from, after, to, source)) {
      const reason = fields.get(id)?.get(field);
      if (reason !== undefined) entries.push({ id, what: 'changed', field, ...reason });
    }
  }
  return entries;
};

type Note = (id: string, field: string, reason: Reason) => void;

/** The nodes directly under `^ah` are now under the turn that the commit made. */
const noteSealed = (frame: AppliedFrame, after: FlatTree, note: Note): void => {
  frame.events.forEach((event, index) => {
    if (event.type !== 'TurnSealed') return;
    const turn = after.indexOf(event.turn.id);
    if (turn === undefined) return;
    for (let i = turn + 1; i < (after.ends[turn] as number); i = after.ends[i] as number)
      note(after.ids[i] as string, 'parent', { index, cause: { kind: 'sealing', turn: event.turn.id } });
  });
};

/** A commit shows every running `ttl` one lower. */
const noteAged = (frame: AppliedFrame, before: FlatTree | null, after: FlatTree, note: Note): void => {
  const index = frame.events.findIndex(({ type }) => type === 'SnapshotCommitted');
  if (index === -1 || before === null) return;
  after.ids.forEach((id, i) => {
    const was = before.indexOf(id);
    if (after.expires[i] !== null && was !== undefined && before.ttls[was] !== after.ttls[i])
      note(id, 'ttl', { index, cause: { kind: 'ageing' } });
  });
};
