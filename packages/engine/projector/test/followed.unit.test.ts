import { openMemoryContents } from '@stemma/contents';
import { HISTORY_HEADS } from '@stemma/history-store';
import { openMemoryLog, type EventLog } from '@stemma/log';
import { openMemoryRowStore, type Generation, type Row, type RowStore } from '@stemma/row-store';
import { someRecorded } from '@stemma/test-kit';
import { expect, it } from 'vitest';
import { openProjector } from '../src/index.ts';

const contents = openMemoryContents();
const recorded = someRecorded(9);
const PATIENCE = { timeout: 60_000 };

/** A process on rows over a network: what it asked of them, and how often it committed. */
const openProcess = (log: EventLog, shared: RowStore, now = () => 0) => {
  const asked = { lookups: 0, commits: 0, refused: 0 };
  const known = new Map<string, Uint8Array>();
  const remote = (generation: Generation): Generation => ({
    ...generation,
    knownCursor: (partition) => known.get(`${generation.name} ${partition}`),
    read: (fn) => (asked.lookups++, generation.read(fn)),
    commit: async (batch) => {
      const at = `${generation.name} ${batch.partition}`;
      known.delete(at);
      asked.commits++;
      await generation.commit(batch).catch((error: unknown) => {
        asked.refused++;
        throw error;
      });
      known.set(at, batch.cursor);
    },
  });
  const opened = new Map<string, Generation>();
  const store: RowStore = {
    ...shared,
    current: (group) => (asked.lookups++, shared.current(group)),
    cursors: (name) => (asked.lookups++, shared.cursors(name)),
    generations: () => (asked.lookups++, shared.generations()),
    generation: async (name, tables) => {
      const generation = opened.get(name) ?? remote(await shared.generation(name, tables));
      opened.set(name, generation);
      return generation;
    },
  };
  return { asked, projector: openProjector({ eager: 'all', log, contents, store, now }) };
};

/** Appends one record, and resolves when the rows that are current have it. */
const appendAndFold = async (log: EventLog, store: RowStore, at: number): Promise<void> => {
  const entry = recorded.entries[at]!;
  const [placed] = await log.append(0, [entry]);
  const reader = openProjector({ eager: 'all', log, contents, store });
  await expect
    .poll(async () => (await reader.checkpoint(0))?.cursor.offset ?? 0, PATIENCE)
    .toBeGreaterThanOrEqual(placed!.next);
  expect(await reader.read((view) => view.get(HISTORY_HEADS, [entry.key]))).toBeDefined();
};

const headsOf = (generation: Generation) =>
  generation.scan(async (scan) => {
    const rows: Row[] = [];
    for await (const row of scan.entries(HISTORY_HEADS)) rows.push(row);
    return rows;
  });

it(
  'one that follows asks the rows for nothing before it commits what came',
  { tags: ['decision-0066'] },
  async () => {
    const [log, store] = [await openMemoryLog(), openMemoryRowStore()];
    const { asked, projector } = openProcess(log, store);
    const ending = new AbortController();
    const following = projector.follow(ending.signal);
    for (let at = 0; at < 5; at++) await appendAndFold(log, store, at);
    const before = { ...asked };
    for (let at = 5; at < 15; at++) await appendAndFold(log, store, at);
    expect(asked).toEqual({ lookups: before.lookups, commits: before.commits + 10, refused: 0 });
    ending.abort();
    await following;
  },
);

it('a commit to rows that another has moved is refused, and the one that follows goes on behind it', async () => {
  const [log, store] = [await openMemoryLog(), openMemoryRowStore()];
  let wake: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (wake = resolve));
  let holds = false;
  const wait: EventLog['wait'] = async (...args) => {
    await log.wait(...args);
    if (holds) await held;
  };
  const { asked, projector } = openProcess({ ...log, wait }, store);
  const ending = new AbortController();
  const following = projector.follow(ending.signal);
  for (let at = 0; at < 5; at++) await appendAndFold(log, store, at);
  holds = true;
  const other = openProcess(log, store);
  for (let at = 5; at < 10; at++) {
    await log.append(0, [recorded.entries[at]!]);
    await other.projector.catchUp();
  }
  await log.append(0, [recorded.entries[10]!]);
  const { commits } = asked;
  holds = false;
  wake?.();
  await appendAndFold(log, store, 11);
  expect(asked.refused).toBe(1);
  expect(asked.commits).toBeGreaterThan(commits + 1);
  ending.abort();
  await following;
  const rebuilt = openProjector({ eager: 'all', log, contents, store: openMemoryRowStore() });
  await rebuilt.catchUp();
  expect(await headsOf(await projector.generation())).toEqual(await headsOf(await rebuilt.generation()));
});

it('one that follows finds the rows that another has built anew', async () => {
  const [log, store] = [await openMemoryLog(), openMemoryRowStore()];
  let now = 0;
  const { projector } = openProcess(log, store, () => now);
  const ending = new AbortController();
  const following = projector.follow(ending.signal);
  for (let at = 0; at < 5; at++) await appendAndFold(log, store, at);
  await openProjector({ eager: 'all', log, contents, store }).rebuild();
  now += 10_000;
  for (let at = 5; at < 10; at++) await appendAndFold(log, store, at);
  ending.abort();
  await following;
});
