import { fail, isStemmaError } from '@stemma/errors';
import { changesTree, isOf, type HistoryEvent, type BranchPosition } from '@stemma/events';
import {
  branchRefOf,
  readPositionMeta,
  readTipSeq,
  type BranchRef,
  type Position,
} from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { parseSelector } from '@stemma/selectors';
import { defined } from '@stemma/values';
import type { EventBatch, FollowOptions } from '../follow.ts';
import { positionOf } from '../read.ts';
import type { LoadTree } from '../selection/load-tree.ts';
import { selectIds } from '../selection/select-ids.ts';
import type { WatchMessage } from './watch-types.ts';

export type WatchSources = {
  readonly projection: Projection;
  readonly load: LoadTree;
  readonly find: (name: string) => Promise<BranchRef>;
  readonly follow: (options: FollowOptions) => AsyncIterable<EventBatch>;
};

export type WatchOptions = { readonly signal: AbortSignal; readonly after?: string };

/** The result of an evaluation: the position, and the ids in document order. */
type WatchResult = { readonly position: Position; readonly ids: readonly string[] };

/**
 * Yields the result of a selector, now and whenever it changes: on the draft after every frame that changed the
 * branch's tree, or, with `@t0` (`@t-1`, …), on every new snapshot. It evaluates nothing in between. If a rollback
 * moves the name that the watch was given, the watch continues with the branch that has the name now.
 *
 * @throws E_SELECTOR_INVALID; E_USAGE for a position that never changes; E_STREAM_GONE when `after` is no longer
 *   known
 */
export async function* watchSelector(
  { projection, load, find, follow }: WatchSources,
  name: string,
  selector: string,
  { signal, after }: WatchOptions,
): AsyncGenerator<WatchMessage> {
  const { at, rest } = watchedPosition(selector);
  const sources = { projection, load };
  let branchRef = await find(name);
  const resumed = after === undefined ? undefined : parseWatchCursor(after);
  const evaluate = async (branchId: number, seq: number): Promise<WatchResult> => {
    const { history } = branchRef;
    const target = await projection.read((rows) => {
      if (at === null) return { branchRef: branchRefOf(history, branchId), ref: `@s${seq}` };
      const { cycle } = readPositionMeta(rows, history, branchId, seq).meta;
      return { branchRef: branchRefOf(history, branchId), ref: `@c${Math.max(0, cycle + at)}` };
    });
    try {
      const { position, ids } = await selectIds(sources, target.branchRef, `${target.ref} ${rest}`, {});
      return { position, ids };
    } catch (error) {
      if (at === null || !isStemmaError(error, 'E_SNAPSHOT_NOT_FOUND')) throw error;
      const position = await projection.read((rows) => positionOf(rows, branchRefOf(history, branchId), ''));
      return { position, ids: [] };
    }
  };

  const { history } = branchRef;
  let cursor = '';
  let last: BranchPosition = { branchId: branchRef.branchId, seq: 0 };
  const message = (now: WatchResult, before: readonly string[] | null): WatchMessage => ({
    cursor: `${cursor}~${last.branchId}.${last.seq}`,
    first: before === null,
    position: now.position,
    ids: now.ids,
    added: difference(now.ids, before ?? []),
    removed: difference(before ?? [], now.ids),
  });
  let shownIds: readonly string[] | null = null;
  for await (const batch of follow({
    signal,
    history,
    ...defined({ after: resumed?.log }),
  })) {
    const hasStarted: boolean = cursor !== '';
    cursor = batch.cursor;
    const due: (typeof last)[] = [];
    if (!hasStarted) {
      if (resumed !== undefined)
        shownIds = (
          await evaluate(resumed.branchId, resumed.seq).catch(() => Promise.reject(positionUnknown()))
        ).ids;
      const { branchId } = branchRef;
      due.push({ branchId, seq: await projection.read((rows) => readTipSeq(rows, history, branchId)) });
    }
    for (const { branchId, seq, event } of batch.events) {
      if (event.type === 'BranchStarted') {
        branchRef = await find(name);
        if (branchRef.branchId === branchId) due.push({ branchId, seq });
      } else if (
        branchId === branchRef.branchId &&
        affectsResult(event, at !== null) &&
        due.at(-1)?.seq !== seq
      )
        due.push({ branchId, seq });
    }
    for (const change of due) {
      last = change;
      const now = await evaluate(change.branchId, change.seq);
      if (shownIds === null || !sameIds(shownIds, now.ids)) yield message(now, shownIds);
      shownIds = now.ids;
    }
  }
}

/** How many snapshots back from the newest a watched selector asks (null: the draft), and the rest of the selector. */
const watchedPosition = (selector: string): { readonly at: number | null; readonly rest: string } => {
  const { at } = parseSelector(selector);
  if (at.kind === 'working') return { at: null, rest: selector };
  if (at.kind === 't') return { at: -Math.abs(at.value), rest: selector.trimStart().replace(/^\S+/, '') };
  throw fail(
    'E_USAGE',
    'a watch reads the working state, or with @t0 the newest snapshot: other positions do not change',
  );
};

/** False for events that leave the tree, or the snapshots, as they were. */
const affectsResult = (event: HistoryEvent, snapshots: boolean): boolean =>
  snapshots ? isOf(event, 'snapshot') : changesTree(event);

const positionUnknown = (): Error =>
  fail('E_STREAM_GONE', 'the watch cannot resume at this cursor: its position is not known');

const parseWatchCursor = (
  text: string,
): { readonly log: string; readonly branchId: number; readonly seq: number } => {
  const found = /^(.{1,8000})~(\d{1,15})\.(\d{1,15})$/.exec(text);
  if (found === null) throw positionUnknown();
  return { log: found[1] ?? '', branchId: Number(found[2]), seq: Number(found[3]) };
};

const difference = (ids: readonly string[], others: readonly string[]): string[] => {
  const excluded = new Set(others);
  return ids.filter((id) => !excluded.has(id));
};

const sameIds = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((id, i) => id === b[i]);
