import { compareNumbers } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { RECORD_TABLES } from '@stemma/history-store';
import { closedBy } from '@stemma/log';
import {
  packValue,
  type Generation,
  type Key,
  type RowStore,
  type Scan,
  type Table,
  type Value,
} from '@stemma/row-store';
import { decodeCheckpoint } from './checkpoint.ts';
import { BUCKET_COUNTS, historyColumn, ROW_COUNTS } from './counts/index.ts';
import { ON_DEMAND, type AskedModels } from './on-demand/index.ts';
import { openProjector, type Projector } from './projector.ts';

export type VerifyReplayOptions = {
  /** An empty store for the rows of one replay; it is closed afterwards. */
  readonly scratch: () => Promise<RowStore> | RowStore;
  /** The frames in a batch, for one replay each; null: the projector's own limits. Default: one replay, null. */
  readonly batchSizes?: readonly (number | null)[];
  /** Returns numbers in [0, 1) that decide when to restart with empty caches: on average every `stopEvery` batches. */
  readonly random?: () => number;
  readonly stopEvery?: number;
  readonly progress?: (frames: number) => void;
};

/** A row that differs: the stored one and the replayed one (undefined: no such row). */
export type RowDifference = {
  readonly table: string;
  readonly key: Key;
  readonly stored: Value | undefined;
  readonly replayed: Value | undefined;
  /** The frame that wrote it, if the row says so. */
  readonly seq: number | null;
};

export type VerifyReplayReport = {
  readonly events: number;
  readonly accepted: number;
  readonly stale: number;
  readonly rows: number;
  readonly differences: number;
  /** The difference with the lowest frame. */
  readonly first: RowDifference | null;
  readonly seconds: number;
};

/**
 * Folds the whole log again into a scratch store and compares every row with the current ones, once for each batch
 * size. Columns that depend on a record's offset are not compared.
 *
 * @throws as `catchUp`; E_RECORD_DAMAGED if the rows lie behind damage that nobody can pass; E_CURSOR_MOVED if the rows move on faster than they can be replayed.
 */
export const verifyReplay = async (
  projector: Projector,
  options: VerifyReplayOptions,
): Promise<VerifyReplayReport> => {
  const started = projector.options.now();
  await projector.catchUp();
  const asked = await projector.onDemand();
  const report = { events: 0, accepted: 0, stale: 0, rows: 0, differences: 0 };
  let first: RowDifference | null = null;
  for (const size of options.batchSizes ?? [null]) {
    const store = await options.scratch();
    try {
      const replay = await replayInto(projector, asked, store, size, options);
      const compared = await damageAsDifference(() =>
        compareAtSameOffsets(projector, replay.projector, asked),
      );
      report.events += replay.counts.events;
      report.accepted += compared.accepted;
      report.stale += compared.stale;
      report.rows += compared.rows;
      report.differences += compared.differences.length;
      for (const each of compared.differences)
        if (first === null || (each.seq ?? Infinity) < (first.seq ?? Infinity)) first = each;
    } finally {
      await store.close();
    }
  }
  return { ...report, first, seconds: (projector.options.now() - started) / 1000 };
};

type Replay = { readonly projector: Projector; readonly counts: { events: number; frames: number } };

const replayInto = async (
  live: Projector,
  asked: AskedModels,
  store: RowStore,
  size: number | null,
  options: VerifyReplayOptions,
): Promise<Replay> => {
  const { random, stopEvery = 5, progress } = options;
  const { log } = live.options;
  const counts = { events: 0, frames: 0 };
  let last = { frames: 0, events: 0 };
  const open = (stop: AbortController): Projector =>
    openProjector({
      ...live.options,
      ...(live.options.eager !== 'all' && { eager: (history, model) => isAsked(asked, history, model) }),
      store,
      limits: size === null ? live.options.limits : { frames: size },
      progress: ({ frames, events, batches }) => {
        if (batches === 1) last = { frames: 0, events: 0 };
        counts.frames += frames - last.frames;
        counts.events += events - last.events;
        last = { frames, events };
        progress?.(counts.frames);
        if (random !== undefined && random() * stopEvery < 1) stop.abort();
      },
      stop: () => stop.signal.aborted,
    });
  for (;;) {
    const stop = new AbortController();
    const projector = open(stop);
    await projector.catchUp();
    if (!stop.signal.aborted) return { projector, counts };
    if (await isAtEnd(projector, log)) return { projector: open(new AbortController()), counts };
  }
};

/** By history, the read models on demand that have rows of it. */
const isAsked = (asked: AskedModels, history: string, model: string): boolean =>
  asked.get(history)?.has(model) === true;

/** A damaged row is one that differs; nobody knows of the others. */
const damageAsDifference = async (compare: () => Promise<ComparedRows>): Promise<ComparedRows> => {
  try {
    return await compare();
  } catch (error) {
    if (!isStemmaError(error, 'E_ROWS_DAMAGED')) throw error;
    const table = `${String(error.detail['table'] ?? 'a table')} (damaged)`;
    const difference = { table, key: [], stored: undefined, replayed: undefined, seq: null };
    return { rows: 0, accepted: 0, stale: 0, differences: [difference] };
  }
};

const isAtEnd = async (projector: Projector, log: Projector['options']['log']): Promise<boolean> => {
  for (let partition = 0; partition < log.partitions; partition++)
    if (((await projector.checkpoint(partition))?.cursor.offset ?? -1) < (await log.end(partition)))
      return false;
  return true;
};

type ComparedRows = {
  readonly rows: number;
  readonly accepted: number;
  readonly stale: number;
  readonly differences: readonly RowDifference[];
};

/** Compares when both are at the same offsets; while others write, the one with the lower offset catches up first. */
const compareAtSameOffsets = async (
  live: Projector,
  replay: Projector,
  asked: AskedModels,
): Promise<ComparedRows> => {
  const compared = comparedRow(live, asked);
  for (let tries = 0; tries < 20; tries++) {
    const [stored, replayed] = [await live.generation(), await replay.generation()];
    const found = await stored.scan((rows) =>
      replayed.scan(async (other) =>
        (await areAtSameOffsets(rows, other)) && (await areFolded(rows, other, asked))
          ? compareRows(stored, rows, other, compared)
          : undefined,
      ),
    );
    if (found !== undefined) return { ...found, ...(await staleCounts(replayed)) };
    await refuseBehindDamage(live, replay);
    await live.catchUp();
    await live.onDemand();
    await replay.catchUp();
  }
  throw fail('E_CURSOR_MOVED', 'the rows change faster than they can be compared');
};

/** Rows that were made of records before one of them was damaged cannot be compared with what is read now. */
const refuseBehindDamage = async (live: Projector, replay: Projector): Promise<void> => {
  for (let partition = 0; partition < live.options.log.partitions; partition++) {
    const replayed = await replay.checkpoint(partition);
    const closed = replayed && closedBy(replayed.state);
    const offset = (await live.checkpoint(partition))?.cursor.offset ?? 0;
    if (closed && offset > replayed.cursor.offset)
      throw fail(
        'E_RECORD_DAMAGED',
        `the record ${partition}@${closed.offset} was damaged after rows had been made of what lies after it: \`stemma verify\` rebuilds them without it`,
        { partition, offset: closed.offset },
      );
  }
};

const areAtSameOffsets = async (a: Scan, b: Scan): Promise<boolean> =>
  (await offsetsText(a)) === (await offsetsText(b));

/** True if what is folded on demand has as much of each history as the replay. */
const areFolded = async (live: Scan, replay: Scan, asked: AskedModels): Promise<boolean> => {
  for (const [history, models] of asked)
    for (const model of models)
      if (
        (await live.get(ON_DEMAND, [history, model]))?.[0] !==
        (await replay.get(ON_DEMAND, [history, model]))?.[0]
      )
        return false;
  return true;
};

type ComparedRow = (table: Table, key: Key) => boolean;

/** False for rows of histories that somebody has asked for only since the replay began. */
const comparedRow = ({ options: { models, eager } }: Projector, asked: AskedModels): ComparedRow => {
  if (eager === 'all') return () => true;
  const modelOf = new Map(
    models
      .filter(({ onDemand }) => onDemand === true)
      .flatMap(({ name, tables }) => tables.map((table) => [table, name] as const)),
  );
  const tableOf = new Map([...modelOf.keys()].map((table) => [table.name, table]));
  return (table, key) => {
    const isCount = table === ROW_COUNTS || table === BUCKET_COUNTS;
    const counted = isCount ? tableOf.get(String(key[1])) : table;
    const model = table === ON_DEMAND ? String(key[1]) : counted && modelOf.get(counted);
    const history = key[Math.max(0, historyColumn(table))];
    return model === undefined || isAsked(asked, String(history), model);
  };
};

const offsetsText = async (scan: Scan): Promise<string> => {
  const offsets: string[] = [];
  for (const partition of await scan.partitions()) {
    const cursor = await scan.cursor(partition);
    offsets.push(`${partition}@${cursor === null ? -1 : decodeCheckpoint(cursor).cursor.offset}`);
  }
  return offsets.join();
};

const staleCounts = (generation: Generation): Promise<{ accepted: number; stale: number }> =>
  generation.read((view) => {
    const states = view.partitions().flatMap((partition) => {
      const cursor = view.cursor(partition);
      return cursor === null ? [] : [decodeCheckpoint(cursor).state];
    });
    const stale = states.flatMap((state) => Object.values(state.stale));
    return {
      accepted: states.reduce((sum, state) => sum + state.accepted, 0),
      stale: stale.reduce((sum, count) => sum + count, 0),
    };
  });

/** Compares every row of the tables that do not depend on offsets in the log. */
const compareRows = async (
  generation: Generation,
  stored: Scan,
  replayed: Scan,
  compared: ComparedRow,
): Promise<Pick<ComparedRows, 'rows' | 'differences'>> => {
  const differences: RowDifference[] = [];
  let rows = 0;
  for (const table of generation.tables) {
    if (table.local === true) continue;
    const [before, differing] = [rows, differences.length];
    for await (const { key, value } of stored.entries(table)) {
      if (!compared(table, key)) continue;
      rows++;
      const other = await replayed.get(table, key);
      if (other === undefined || Buffer.compare(packValue(table, value), packValue(table, other)) !== 0)
        differences.push({
          table: table.name,
          key,
          stored: value,
          replayed: other,
          seq: seqOf(table, key, value),
        });
    }
    const missing = differences.slice(differing).filter((each) => each.replayed === undefined).length;
    // The numbers of rows with equal keys agree, so no row is in the replay only.
    if ((await countRows(replayed, table)) === rows - before - missing) continue;
    for await (const { key, value } of replayed.entries(table))
      if ((await stored.get(table, key)) === undefined)
        differences.push({
          table: table.name,
          key,
          stored: undefined,
          replayed: value,
          seq: seqOf(table, key, value),
        });
  }
  differences.sort((a, b) =>
    compareNumbers(a.seq ?? Number.MAX_SAFE_INTEGER, b.seq ?? Number.MAX_SAFE_INTEGER),
  );
  return { rows, differences };
};

const countRows = async (scan: Scan, table: Table): Promise<number> => {
  let count = 0;
  for await (const _row of scan.entries(table)) count++;
  return count;
};

/** The frame that a row names as its own: `from` or `seq` in its key, else `seq` in its value. */
const seqOf = (table: Table, key: Key, value: Value): number | null => {
  if (RECORD_TABLES.includes(table)) return null;
  for (const name of ['from', 'seq']) {
    const column = table.key.findIndex(([each]) => each === name);
    if (column !== -1) return key[column] as number;
  }
  const column = table.value.findIndex(([each]) => each === 'seq');
  return column === -1 ? null : (value[column] as number | null);
};
