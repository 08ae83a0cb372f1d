import { threadIndexes, type FlatTree } from '@stemma/context-tree';
import { changedIds, enteredIds, removedIds } from '@stemma/events';
import {
  openNodeReader,
  readAncestorPath,
  readFlatTree,
  readLocations,
  type SnapshotRow,
  windowOfCycles,
  type ThreadEntry,
} from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { listFrameSummaries } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { openFrames } from './origin.ts';

/** What two neighbouring threads show from the first location on that changed: before it they are the same. */
export type PromptStep = {
  readonly before: readonly ThreadEntry[];
  readonly after: readonly ThreadEntry[];
};

/**
 * The steps from a snapshot to each of those after it on an ancestor path, which follow one another (`before` null: there is none), of
 * histories whose thread is full. They are read of the events of the frames between, where their nodes are, and what is there:
 * nothing of the history before.
 */
export const readPromptSteps = async (
  projection: Projection,
  history: string,
  before: SnapshotRow | null,
  snapshots: readonly SnapshotRow[],
): Promise<readonly PromptStep[]> => {
  const named = await namedBetween(projection, history, before, snapshots);
  return projection.read((rows) => {
    const window = windowOfCycles(
      rows,
      Math.max(0, (snapshots[0]?.cycle ?? 0) - CYCLES_BEFORE),
      (snapshots.at(-1)?.cycle ?? 0) + 1,
    );
    return snapshots.map((after, i): PromptStep => {
      const previous = i === 0 ? before : (snapshots[i - 1] as SnapshotRow);
      if (previous !== null) return stepBetween(window, history, previous, after, named[i] as NamedNodes);
      const whole = readFlatTree(rows, history, after.branchId, after.seq);
      return { before: [], after: entriesOf(whole) };
    });
  });
};

/** Cycles before the first snapshot of several that are read with them: most that changes in a step is not older. */
const CYCLES_BEFORE = 8;

const stepBetween = (
  rows: RowReader,
  history: string,
  before: SnapshotRow,
  after: SnapshotRow,
  { ids, entered }: NamedNodes,
): PromptStep => {
  // What entered since then was nowhere before.
  const remaining = [...ids].filter((id) => !entered.has(id));
  const locations = new Set([
    ...locationsOf(rows, history, before, remaining),
    ...locationsOf(rows, history, after, ids),
  ]);
  const withSys = locations.has('sys');
  // What is under `^sys` comes first.
  const first = withSys ? 0 : Math.min(...[...locations].filter((location) => location !== 'sys'));
  const read = (at: SnapshotRow): readonly ThreadEntry[] =>
    locations.size === 0
      ? []
      : entriesOf(readLocations(rows, history, at, { sys: withSys, from: first, to: Infinity }).tree);
  return { before: read(before), after: read(after) };
};

/** The nodes that the frames between two snapshots name, and those of them that entered in these frames. */
type NamedNodes = { readonly ids: ReadonlySet<string>; readonly entered: ReadonlySet<string> };

/** Those of each snapshot since the one before it; the frames of all of them are read together. */
const namedBetween = async (
  projection: Projection,
  history: string,
  before: SnapshotRow | null,
  snapshots: readonly SnapshotRow[],
): Promise<readonly NamedNodes[]> => {
  const last = snapshots.at(-1);
  const first = before ?? snapshots[0];
  if (last === undefined || first === undefined) return [];
  const seqs = await projection.read((rows) => {
    const path = readAncestorPath(rows, history, last.branchId, last.seq);
    const limits = new Map(path.map(({ branchId, limit }) => [branchId, limit]));
    return listFrameSummaries(rows, history, { from: first.seq + 1, to: last.seq })
      .filter(({ branchId, seq, observed }) => !observed && seq <= (limits.get(branchId) ?? -1))
      .map(({ seq }) => seq);
  });
  const frames = openFrames(projection, history);
  await frames.loadEvents(seqs);
  const named: NamedNodes[] = [];
  let next = 0;
  for (const { seq: end } of snapshots) {
    const ids = new Set<string>();
    const entered = new Set<string>();
    for (let seq = seqs[next]; seq !== undefined && seq <= end; seq = seqs[++next])
      for (const event of await frames.eventsOf(seq)) {
        for (const id of enteredIds(event)) entered.add(id);
        for (const each of [enteredIds(event), removedIds(event), changedIds(event)])
          for (const id of each) ids.add(id);
      }
    named.push({ ids, entered });
  }
  return named;
};

/** Where nodes are at a position: under `^sys`, or the cycle that seals them. */
const locationsOf = (
  rows: RowReader,
  history: string,
  { branchId, seq, cycle }: SnapshotRow,
  ids: Iterable<string>,
): ReadonlySet<number | 'sys'> => {
  const locations = new Set<number | 'sys'>();
  const ancestorPath = readAncestorPath(rows, history, branchId, seq);
  const read = openNodeReader(rows, { history, ancestorPath, cycle });
  for (const id of ids) {
    const found = read(id);
    if (found === undefined || found.kind === 'fixed') continue;
    const { location } = found.record;
    locations.add(location.kind === 'sys' ? 'sys' : location.cycle);
  }
  return locations;
};

const entriesOf = (tree: FlatTree): readonly ThreadEntry[] =>
  threadIndexes(tree, 'full').map((i) => ({
    headers: tree.headers[i] as ThreadEntry['headers'],
    payload: tree.payloads[i] ?? { seq: 0, index: 0 },
    inSys: i < tree.seq,
  }));
