import { openDirectoryContents } from '@stemma/contents';
import { historyId, type Step } from '@stemma/history';
import {
  checkLoadedBranch,
  HISTORY_STORE,
  loadBranchFromRows,
  positionOfFrame,
  readPosition,
  readTipSeq,
  sumOfRecords,
  type Position,
} from '@stemma/history-store';
import { openHome } from '@stemma/home';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { openProjector, type Projector } from '@stemma/projector';
import { viewOf } from '@stemma/queries';
import {
  encodeKey,
  hashBytes,
  isSealed,
  packRows,
  packValue,
  sealBytes,
  seedOf,
  type Row,
  type RowReader,
  type Table,
} from '@stemma/row-store';
import { listBranches, listFrameSummaries } from '@stemma/read-models';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';
import { join } from 'node:path';
import { median } from '../measure.ts';
import { prose, seeded } from '../text.ts';

const history = historyId('checked', '');

/** Milliseconds of CPU: of a question as it is asked, and of the checks in it. */
export type Checked = { readonly whole: number; readonly checks: number };
export type ChecksFigures = { readonly [question: string]: Checked };
export type ChecksInput = { readonly directory: string; readonly nodes: number; readonly times: number };

/** A history of one snapshot for every eight nodes, all of them alive. */
const record = async ({ directory, nodes }: ChecksInput): Promise<void> => {
  const home = await openHome({ directory, create: true });
  const by = { recorder: 'bench' };
  const submit = (id: string, steps: readonly Step[]) =>
    home.submit({ id, history, branchId: 0, by, steps: [...steps] });
  await submit('start', [{ op: 'start', name: 'checked' }]);
  for (let from = 0; from < nodes; from += 8) {
    const blocks = Array.from({ length: 8 }, (_, i): Step => {
      const content = prose(seeded(from + i), 300);
      return { op: 'insert', parent: '^ah', node: { nodeType: 'cb', role: 'user', content } };
    });
    await submit(`cycle-${from}`, [...blocks, { op: 'commit' }]);
  }
  await home.read.histories();
  await home.close();
};

const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

const timed = async (times: number, work: () => unknown): Promise<number> => {
  const series: number[] = [];
  for (let i = 0; i < times; i++) {
    const before = cpu();
    await work();
    series.push(cpu() - before);
  }
  return median(series);
};

type Read = { readonly table: Table; readonly rows: readonly Row[]; readonly single: boolean };

/** The same rows, which notes every row that it gives. */
const noting = (rows: RowReader, read: Read[]): RowReader => ({
  get(table, key) {
    const value = rows.get(table, key);
    if (value !== undefined) read.push({ table, rows: [{ key, value }], single: true });
    return value;
  },
  range(table, range) {
    const found = rows.range(table, range);
    read.push({ table, rows: found, single: false });
    return found;
  },
});

/** What a store that packs rows checks: a value of many rows, once for a range and for each row that is read alone. */
const packedChecks = (table: Table, rows: readonly Row[], single: boolean): Sealed[] => {
  const cells = new Map<Row, Sealed>();
  packRows(table, 1, rows, (first, seal) => {
    const key = encodeKey(table, first.key);
    const seed = hashBytes(seedOf(table), key);
    cells.set(first, { table, key, sealed: Uint8Array.from(seal(seed)) });
  });
  if (!single) return [...cells.values()];
  let cell: Sealed | undefined;
  return rows.flatMap((row) => (cell = cells.get(row) ?? cell) ?? []);
};

type Sealed = { readonly table: Table; readonly key: Uint8Array; readonly sealed: Uint8Array };

/** The values that were read, with their checksums. */
const sealedOf = (read: readonly Read[]): readonly Sealed[] => {
  const singles = new Map<Table, Row[]>();
  const values: Sealed[] = [];
  for (const { table, rows, single } of read) {
    if (table.packed !== true) {
      for (const { key, value } of rows) {
        const bytes = encodeKey(table, key);
        const seed = hashBytes(seedOf(table), bytes);
        values.push({ table, key: bytes, sealed: sealBytes(seed, packValue(table, value)) });
      }
    } else if (single) singles.set(table, [...(singles.get(table) ?? []), ...rows]);
    else values.push(...packedChecks(table, rows, false));
  }
  for (const [table, rows] of singles) values.push(...packedChecks(table, rows, true));
  return values;
};

/** How often a list is read for one figure: in less, most of the time goes to code that is not compiled yet. */
const LISTS = 500;
/** How often a branch is loaded for one figure. */
const LOADS = 10;

let sink = 0;
/** What the store does with each value before it gives rows out. */
const checkAll = (read: readonly Sealed[]): void => {
  for (const { table, key, sealed } of read) if (isSealed(hashBytes(seedOf(table), key), sealed)) sink++;
};

type Opened = { readonly projector: Projector; readonly close: () => Promise<void> };

const openRows = async (directory: string): Promise<Opened> => {
  const log = await openEmbeddedLog({ directory: join(directory, 'log') });
  const contents = await openDirectoryContents(join(directory, 'contents'));
  const store = openLmdbRowStore({ directory: join(directory, 'rows') });
  const close = async (): Promise<void> => {
    await store.close();
    await contents.close();
    await log.close();
  };
  const projector = openProjector({ eager: 'all', log, contents, store });
  await projector.catchUp();
  return { projector, close };
};

/** Milliseconds of CPU of the same work with its checks and without. */
type Compared = { readonly whole: number; readonly without: number };

/** Times work with its checks and without them, after one turn that is not counted; which of them is first alternates. */
const inTurns = async (
  times: number,
  checked: () => Promise<number>,
  bare: () => Promise<number>,
): Promise<readonly Compared[]> => {
  const checkedFirst = async (): Promise<Compared> => {
    const whole = await checked();
    return { whole, without: await bare() };
  };
  const bareFirst = async (): Promise<Compared> => {
    const without = await bare();
    return { whole: await checked(), without };
  };
  const series: Compared[] = [];
  for (let i = 0; i < times; i++) {
    if (i === 0) await checkedFirst();
    series.push(i % 2 === 0 ? await bareFirst() : await checkedFirst());
  }
  return series;
};

const medianOf = (series: readonly Checked[]): Checked => ({
  whole: median(series.map(({ whole }) => whole)),
  checks: median(series.map(({ checks }) => checks)),
});

/** Questions to rows alone: each runs, then the checks of the rows that it read. */
const checksOfRows = async (projector: Projector, times: number): Promise<ChecksFigures> => {
  const versions = HISTORY_STORE.tables.find(({ name }) => name === 'versions') as Table;
  const keys = await projector.read((view) =>
    view.range(versions, { prefix: [history] }).map(({ key }) => key),
  );
  const ofRows = async (ask: (rows: RowReader) => unknown): Promise<Checked> => {
    const read: Read[] = [];
    await projector.read((view) => ask(noting(view, read)));
    const whole = await timed(times, () => projector.read(ask));
    const sealed = sealedOf(read);
    return { whole, checks: await timed(times, () => checkAll(sealed)) };
  };
  const get = await ofRows((rows) => {
    for (const key of keys) rows.get(versions, key);
  });
  const range = await ofRows((rows) => {
    rows.range(versions, { prefix: [history] });
  });
  return { get, range };
};

const checksOfScan = async (projector: Projector, times: number): Promise<ChecksFigures> => {
  const scan = (each?: (table: Table, row: Row) => void): Promise<void> =>
    projector.scan(async (rows, tables) => {
      for (const table of tables) for await (const row of rows.entries(table)) each?.(table, row);
    });
  const found = new Map<Table, Row[]>();
  await scan((table, row) => {
    const rows = found.get(table);
    if (rows === undefined) found.set(table, [row]);
    else rows.push(row);
  });
  const all = sealedOf([...found].map(([table, rows]) => ({ table, rows, single: false })));
  const whole = await timed(times, () => scan());
  return { scan: { whole, checks: await timed(times, () => checkAll(all)) } };
};

/** Lists are compared with the number of their rows, as no sum covers them. */
const checksOfLists = async (projector: Projector, times: number): Promise<ChecksFigures> => {
  const ofList = async (ask: (rows: RowReader) => unknown): Promise<Checked> => {
    const often = async (read: (fn: (view: RowReader) => unknown) => Promise<unknown>): Promise<number> =>
      timed(1, async () => {
        for (let i = 0; i < LISTS; i++) await read(ask);
      });
    const series = await inTurns(
      times,
      () => often((fn) => projector.read(fn)),
      // As a read does: which generation is current is looked up before and after.
      () =>
        often(async (fn) => {
          const rows = await projector.generation();
          await rows.read(fn);
          await projector.generation();
        }),
    );
    return medianOf(
      series.map(({ whole, without }) => ({ whole: whole / LISTS, checks: (whole - without) / LISTS })),
    );
  };
  return {
    'list of one': await ofList((view) => listBranches(view, history)),
    'page of 50': await ofList((view) => listFrameSummaries(view, history, { limit: 50 })),
    'list of 128': await ofList((view) => listFrameSummaries(view, history)),
  };
};

/** The newest position, in a projector that has shown it and in one that is opened for it. Closes the projector. */
const checksOfView = async (
  { projector, close }: Opened,
  position: Position,
  { directory, times }: ChecksInput,
): Promise<ChecksFigures> => {
  const read: Read[] = [];
  const parts = await projector.read((view) =>
    readPosition(noting(view, read), history, position.branchId, position.seq),
  );
  const sealed = sealedOf(read);
  const checks = await timed(times, () => {
    checkAll(sealed);
    sink ^= sumOfRecords(parts);
  });
  const again = await timed(times, () => viewOf(projector, position));
  await close();

  const first: number[] = [];
  for (let i = 0; i < times; i++) {
    const opened = await openRows(directory);
    first.push(await timed(1, () => viewOf(opened.projector, position)));
    await opened.close();
  }
  return { 'view, again': { whole: again, checks }, 'view, first': { whole: median(first), checks } };
};

/** A writer computes the hashes for the commit: the check computes them earlier. */
const checksOfLoad = async (branchId: number, { directory, times }: ChecksInput): Promise<ChecksFigures> => {
  const { projector, close } = await openRows(directory);
  const loaded: Read[] = [];
  await projector.payloads.using(history, (payload) =>
    projector.read((view) =>
      loadBranchFromRows(noting(view, loaded), history, branchId, null).tree.hashes(payload),
    ),
  );
  const sealed = sealedOf(loaded);
  const checksOfRead = await timed(times, () => checkAll(sealed));
  const load = (check: boolean): Promise<number> =>
    timed(1, async () => {
      for (let j = 0; j < LOADS; j++)
        await projector.payloads.using(history, (payload) =>
          projector.read((view) => {
            const branch = loadBranchFromRows(view, history, branchId, null);
            if (check) checkLoadedBranch(view, history, branch, payload);
            branch.tree.hashes(payload);
          }),
        );
    });
  const series = await inTurns(
    times,
    () => load(true),
    () => load(false),
  );
  await close();
  return {
    'load and commit': medianOf(
      series.map(({ whole, without }) => ({
        whole: whole / LOADS,
        checks: (whole - without) / LOADS + checksOfRead,
      })),
    ),
  };
};

/** Asks what reads rows, and does the checks in it once more by themselves. */
export const measureChecks = async (input: ChecksInput): Promise<ChecksFigures> => {
  await record(input);
  const { directory, times } = input;
  const opened = await openRows(directory);
  const { projector } = opened;
  const ofReads = {
    ...(await checksOfRows(projector, times)),
    ...(await checksOfScan(projector, times)),
    ...(await checksOfLists(projector, times)),
  };
  const position = await projector.read((view) =>
    positionOfFrame(view, history, 0, readTipSeq(view, history, 0)),
  );
  const figures: ChecksFigures = {
    ...ofReads,
    ...(await checksOfView(opened, position, input)),
    ...(await checksOfLoad(position.branchId, input)),
  };
  // Used, so that no compiler leaves the work out.
  return sink === 0.5 ? {} : figures;
};
