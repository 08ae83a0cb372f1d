import { changedFields, type FlatTree, type PayloadSource } from '@stemma/context-tree';
import type { AppliedFrame } from '../applied-frame.ts';
import type { Cause } from './cause.ts';
import { nodeChangesOf } from './node-changes.ts';

/** One difference between two positions a frame apart, and its one cause: event `index` of the frame. */
export type Attributed = {
  readonly id: string;
  readonly what: 'added' | 'removed' | 'changed';
  /** Of what changed, by the name that a diff gives it; else null. */
  readonly field: string | null;
  readonly index: number;
  readonly cause: Cause;
};

type Reason = { readonly index: number; readonly cause: Cause };

/**
 * Every difference that a frame made, each with exactly one cause (context-tree §3: one cause): what is in `after`
 * and not in `before` was added, and so on, as in a diff. Where several events of a frame had a hand in one difference,
 * the last that set the value is its cause; what they undid among themselves is none. Ids that came in the order of
 * `after`, ids that went in that of `before`, then changes in that of `after`, fields sorted.
 *
 * Made of the frame's events alone; the trees only tell what they came to. So it is the proof that a diff of two
 * consecutive positions has no entry without a cause and no cause is claimed for what does not differ.
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

/** What lay directly under `^ah` lies under the turn that the commit made of it. */
const noteSealed = (frame: AppliedFrame, after: FlatTree, note: Note): void => {
  frame.events.forEach((event, index) => {
    if (event.type !== 'TurnSealed') return;
    const turn = after.indexOf(event.turn.id);
    if (turn === undefined) return;
    for (let i = turn + 1; i < (after.ends[turn] as number); i = after.ends[i] as number)
      note(after.ids[i] as string, 'parent', { index, cause: { kind: 'sealing', turn: event.turn.id } });
  });
};

/** A commit shows one less of every `ttl` that runs. */
const noteAged = (frame: AppliedFrame, before: FlatTree | null, after: FlatTree, note: Note): void => {
  const index = frame.events.findIndex(({ type }) => type === 'SnapshotCommitted');
  if (index === -1 || before === null) return;
  after.ids.forEach((id, i) => {
    const was = before.indexOf(id);
    if (after.expires[i] !== null && was !== undefined && before.ttls[was] !== after.ttls[i])
      note(id, 'ttl', { index, cause: { kind: 'ageing' } });
  });
};
