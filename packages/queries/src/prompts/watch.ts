import { fail, isStemmaError } from '@stemma/errors';
import { changesTree, isOf, type HistoryEvent } from '@stemma/events';
import { lineOf, nearestMark, readHead, type Line, type Position } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import { parseSelector } from '@stemma/selectors';
import type { Followed, FollowOptions } from '../follow.ts';
import { positionOf } from '../read.ts';
import type { LoadTree } from '../selection/load-tree.ts';
import { selectIds } from '../selection/select-ids.ts';
import type { WatchMessage } from './watch-types.ts';

export type WatchSources = {
  readonly projector: ServedRows;
  readonly load: LoadTree;
  readonly find: (name: string) => Promise<Line>;
  readonly follow: (options: FollowOptions) => AsyncIterable<Followed>;
};

export type WatchOptions = { readonly signal: AbortSignal; readonly after?: string };

/** What an evaluation gave: where, and the ids in document order. */
type Result = { readonly position: Position; readonly ids: readonly string[] };

/**
 * The result of a standing selector, and again whenever it changes: on the working state after every frame that touched
 * the lineage's tree, or, with `@t0` (`@t-1`, …), on every new snapshot. Nothing is asked in between. Where the history
 * is named so that a rollback moves the name, the watch goes on with the lineage that has it now.
 *
 * @throws E_SELECTOR_INVALID; E_USAGE for a position that never changes; E_STREAM_GONE when `after` is no longer known
 */
export async function* watchSelector(
  { projector, load, find, follow }: WatchSources,
  name: string,
  selector: string,
  { signal, after }: WatchOptions,
): AsyncGenerator<WatchMessage> {
  const { at, rest } = standing(selector);
  const asked = { projector, load };
  let line = await find(name);
  const resumed = after === undefined ? undefined : openCursor(after);
  const evaluate = async (strand: number, seq: number): Promise<Result> => {
    const { history } = line;
    const where = await projector.read((rows) => {
      if (at === null) return { line: lineOf(history, strand), ref: `@s${seq}` };
      const { cycle } = nearestMark(rows, history, strand, seq).mark;
      return { line: lineOf(history, strand), ref: `@c${Math.max(0, cycle + at)}` };
    });
    try {
      const { position, ids } = await selectIds(asked, where.line, `${where.ref} ${rest}`, {});
      return { position, ids };
    } catch (error) {
      if (at === null || !isStemmaError(error, 'E_SNAPSHOT_NOT_FOUND')) throw error;
      const position = await projector.read((rows) => positionOf(rows, lineOf(history, strand), ''));
      return { position, ids: [] };
    }
  };

  const { history } = line;
  let cursor = '';
  let last: { readonly strand: number; readonly seq: number } = { strand: line.strand, seq: 0 };
  const message = (now: Result, before: readonly string[] | null): WatchMessage => ({
    cursor: `${cursor}~${last.strand}.${last.seq}`,
    first: before === null,
    position: now.position,
    ids: now.ids,
    added: without(now.ids, before ?? []),
    removed: without(before ?? [], now.ids),
  });
  let shown: readonly string[] | null = null;
  for await (const batch of follow({
    signal,
    history,
    ...(resumed === undefined ? {} : { after: resumed.log }),
  })) {
    const begun: boolean = cursor !== '';
    cursor = batch.cursor;
    const due: (typeof last)[] = [];
    if (!begun) {
      if (resumed !== undefined)
        shown = (await evaluate(resumed.strand, resumed.seq).catch(() => Promise.reject(gone()))).ids;
      const { strand } = line;
      due.push({ strand, seq: await projector.read((rows) => readHead(rows, history, strand)) });
      // An error that the working state has (`depth`, `age`) is one of the watch.
      await selectIds(asked, line, at === null ? rest : `@s${due[0]?.seq ?? 0} ${rest}`, { limit: 0 });
    }
    for (const { strand, seq, event } of batch.events) {
      if (event.type === 'LineageStarted') {
        line = await find(name);
        if (line.strand === strand) due.push({ strand, seq });
      } else if (strand === line.strand && matters(event, at !== null) && due.at(-1)?.seq !== seq)
        due.push({ strand, seq });
    }
    for (const place of due) {
      last = place;
      const now = await evaluate(place.strand, place.seq);
      if (shown === null || !sameIds(shown, now.ids)) yield message(now, shown);
      shown = now.ids;
    }
  }
}

/** The snapshots back from the newest one that a standing selector asks (null: the working state), and what it asks. */
const standing = (selector: string): { readonly at: number | null; readonly rest: string } => {
  const { at } = parseSelector(selector);
  if (at.kind === 'working') return { at: null, rest: selector };
  if (at.kind === 't') return { at: -Math.abs(at.value), rest: selector.trimStart().replace(/^\S+/, '') };
  throw fail(
    'E_USAGE',
    'a watch asks the working state, or with @t0 the newest snapshot: others do not change',
  );
};

/** False for events that leave the tree, or the snapshots, as they were. */
const matters = (event: HistoryEvent, snapshots: boolean): boolean =>
  snapshots ? isOf(event, 'snapshot') : changesTree(event);

const gone = (): Error =>
  fail('E_STREAM_GONE', 'the watch cannot go on from there: its position is not known');

const openCursor = (
  text: string,
): { readonly log: string; readonly strand: number; readonly seq: number } => {
  const found = /^(.{1,8000})~(\d{1,15})\.(\d{1,15})$/.exec(text);
  if (found === null) throw gone();
  return { log: found[1] ?? '', strand: Number(found[2]), seq: Number(found[3]) };
};

const without = (ids: readonly string[], others: readonly string[]): string[] => {
  const left = new Set(others);
  return ids.filter((id) => !left.has(id));
};

const sameIds = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((id, i) => id === b[i]);
