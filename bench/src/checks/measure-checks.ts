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
import { encodeKey, hashBytes, packValue, seedOf, type RowReader, type Table } from '@stemma/row-store';
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
  await home.histories();
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

type Read = { readonly table: Table; readonly key: Uint8Array; readonly value: Uint8Array };

/** The same rows, which notes every row that it gives. */
const noting = (rows: RowReader, read: Read[]): RowReader => {
  const note = (
    table: Table,
    key: Parameters<RowReader['get']>[1],
    value: Parameters<typeof packValue>[1],
  ): void => void read.push({ table, key: encodeKey(table, key), value: packValue(table, value) });
  return {
    get(table, key) {
      const value = rows.get(table, key);
      if (value !== undefined) note(table, key, value);
      return value;
    },
    range(table, range) {
      const found = rows.range(table, range);
      for (const { key, value } of found) note(table, key, value);
      return found;
    },
  };
};

let sink = 0;
/** What the store does for each row before it gives it out. */
const checkAll = (read: readonly Read[]): void => {
  for (const { table, key, value } of read) sink ^= hashBytes(hashBytes(seedOf(table), key), value);
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
  return { projector: openProjector({ eager: 'all', log, contents, store }), close };
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
    figures[name] = { whole, checks: await timed(times, () => checkAll(read)) };
  };
  await ofRows('get', (rows) => {
    for (const key of keys) rows.get(versions, key);
  });
  await ofRows('range', (rows) => {
    rows.range(versions, { prefix: [history] });
  });
  const all: Read[] = [];
  const scan = (each?: (table: Table, key: Read['key'], value: Read['value']) => void): Promise<void> =>
    projector.scan(async (rows, tables) => {
      for (const table of tables)
        for await (const { key, value } of rows.entries(table))
          each?.(table, encodeKey(table, key), packValue(table, value));
    });
  await scan((table, key, value) => void all.push({ table, key, value }));
  const scanned = await timed(times, () => scan());
  figures['scan'] = { whole: scanned, checks: await timed(times, () => checkAll(all)) };

  const position = await projector.read((view) =>
    positionOfFrame(view, history, 0, readTipSeq(view, history, 0)),
  );
  const { branchId, seq } = position;
  const read: Read[] = [];
  const parts = await projector.read((view) => readPosition(noting(view, read), history, branchId, seq));
  const checksOfPosition = await timed(times, () => {
    checkAll(read);
    sink ^= sumOfRecords(parts);
  });
  const again = await timed(times, () => viewOf(projector, position));
  figures['view, again'] = { whole: again, checks: checksOfPosition };
  await close();

  const first: number[] = [];
  for (let i = 0; i < times; i++) {
    const opened = await openRows(directory);
    await opened.projector.catchUp();
    first.push(await timed(1, () => viewOf(opened.projector, position)));
    await opened.close();
  }
  figures['view, first'] = { whole: median(first), checks: checksOfPosition };

  // Who writes computes the hashes for the commit: the check computes them earlier.
  const series: Checked[] = [];
  const opened = await openRows(directory);
  for (let i = 0; i < times; i++) {
    const load = (check: boolean): Promise<number> =>
      timed(1, () =>
        opened.projector.payloads.using(history, (payload) =>
          opened.projector.read((view) => {
            const branch = loadBranchFromRows(view, history, branchId, null);
            if (check) checkLoadedBranch(view, history, branch, payload);
            branch.tree.hashes(payload);
          }),
        ),
      );
    const [without, whole] = i % 2 === 0 ? [await load(false), await load(true)] : await reversed(load);
    series.push({ whole, checks: whole - without + checksOfPosition });
  }
  await opened.close();
  figures['load and commit'] = {
    whole: median(series.map(({ whole }) => whole)),
    checks: median(series.map(({ checks }) => checks)),
  };
  // Used, so that no compiler leaves the work out.
  return sink === 0.5 ? {} : figures;
};

const reversed = async (load: (check: boolean) => Promise<number>): Promise<[number, number]> => {
  const whole = await load(true);
  return [await load(false), whole];
};
