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

/** Asks what reads rows, and does the checks in it once more by themselves. */
export const measureChecks = async (input: ChecksInput): Promise<ChecksFigures> => {
  await record(input);
  const { directory, times } = input;
  const versions = HISTORY_STORE.tables.find(({ name }) => name === 'versions') as Table;
  const figures: Record<string, Checked> = {};
  const { projector, close } = await openRows(directory);
  const keys = await projector.read((view) =>
    view.range(versions, { prefix: [history] }).map(({ key }) => key),
  );

  /** A question to rows alone: it runs, then the checks of the rows that it read. */
  const ofRows = async (name: string, ask: (rows: RowReader) => unknown): Promise<void> => {
    const read: Read[] = [];
    await projector.read((view) => ask(noting(view, read)));
    const whole = await timed(times, () => projector.read(ask));
    const sealed = sealedOf(read);
    figures[name] = { whole, checks: await timed(times, () => checkAll(sealed)) };
  };
  await ofRows('get', (rows) => {
    for (const key of keys) rows.get(versions, key);
  });
  await ofRows('range', (rows) => {
    rows.range(versions, { prefix: [history] });
  });
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
  const scanned = await timed(times, () => scan());
  figures['scan'] = { whole: scanned, checks: await timed(times, () => checkAll(all)) };

  // Lists are compared with the number of their rows, as no sum covers them.
  const ofList = async (name: string, ask: (rows: RowReader) => unknown): Promise<void> => {
    const often = async (read: (fn: (view: RowReader) => unknown) => Promise<unknown>): Promise<number> =>
      timed(1, async () => {
        for (let i = 0; i < LISTS; i++) await read(ask);
      });
    const series: Checked[] = [];
    for (let i = 0; i < times; i++) {
      const [checked, bare] = [
        () => often((fn) => projector.read(fn)),
        // As a read does: which generation is current is looked up before and after.
        () =>
          often(async (fn) => {
            const rows = await projector.generation();
            await rows.read(fn);
            await projector.generation();
          }),
      ];
      if (i === 0) await swapped(checked, bare);
      const [without, whole] = i % 2 === 0 ? [await bare(), await checked()] : await swapped(checked, bare);
      series.push({ whole: whole / LISTS, checks: (whole - without) / LISTS });
    }
    figures[name] = {
      whole: median(series.map(({ whole }) => whole)),
      checks: median(series.map(({ checks }) => checks)),
    };
  };
  await ofList('list of one', (view) => listBranches(view, history));
  await ofList('page of 50', (view) => listFrameSummaries(view, history, { limit: 50 }));
  await ofList('list of 128', (view) => listFrameSummaries(view, history));

  const position = await projector.read((view) =>
    positionOfFrame(view, history, 0, readTipSeq(view, history, 0)),
  );
  const { branchId, seq } = position;
  const read: Read[] = [];
  const parts = await projector.read((view) => readPosition(noting(view, read), history, branchId, seq));
  const sealed = sealedOf(read);
  const checksOfPosition = await timed(times, () => {
    checkAll(sealed);
    sink ^= sumOfRecords(parts);
  });
  const again = await timed(times, () => viewOf(projector, position));
  figures['view, again'] = { whole: again, checks: checksOfPosition };
  await close();

  const first: number[] = [];
  for (let i = 0; i < times; i++) {
    const opened = await openRows(directory);
    first.push(await timed(1, () => viewOf(opened.projector, position)));
    await opened.close();
  }
  figures['view, first'] = { whole: median(first), checks: checksOfPosition };

  // Who writes computes the hashes for the commit: the check computes them earlier.
  const series: Checked[] = [];
  const opened = await openRows(directory);
  const loaded: Read[] = [];
  await opened.projector.payloads.using(history, (payload) =>
    opened.projector.read((view) =>
      loadBranchFromRows(noting(view, loaded), history, branchId, null).tree.hashes(payload),
    ),
  );
  const sealedOfLoad = sealedOf(loaded);
  const checksOfLoad = await timed(times, () => checkAll(sealedOfLoad));
  for (let i = 0; i < times; i++) {
    const load = (check: boolean): Promise<number> =>
      timed(1, async () => {
        for (let j = 0; j < LOADS; j++)
          await opened.projector.payloads.using(history, (payload) =>
            opened.projector.read((view) => {
              const branch = loadBranchFromRows(view, history, branchId, null);
              if (check) checkLoadedBranch(view, history, branch, payload);
              branch.tree.hashes(payload);
            }),
          );
      });
    if (i === 0) await reversed(load);
    const [without, whole] = i % 2 === 0 ? [await load(false), await load(true)] : await reversed(load);
    series.push({ whole: whole / LOADS, checks: (whole - without) / LOADS + checksOfLoad });
  }
  await opened.close();
  figures['load and commit'] = {
    whole: median(series.map(({ whole }) => whole)),
    checks: median(series.map(({ checks }) => checks)),
  };
  // Used, so that no compiler leaves the work out.
  return sink === 0.5 ? {} : figures;
};

const swapped = async (
  checked: () => Promise<number>,
  bare: () => Promise<number>,
): Promise<[number, number]> => {
  const whole = await checked();
  return [await bare(), whole];
};

const reversed = async (load: (check: boolean) => Promise<number>): Promise<[number, number]> => {
  const whole = await load(true);
  return [await load(false), whole];
};
