import { isStemmaError } from '@stemma/errors';
import { HISTORY_HEADS, HISTORY_STORE, readBranchState, readHistoryHead } from '@stemma/history-store';
import { openDecodedFrames, openMemoryLog, openRecord, readFrame } from '@stemma/log';
import { READ_MODELS } from '@stemma/read-models';
import { openMemoryRowStore, type Row } from '@stemma/row-store';
import { allRows, anyRecorded, appendAll, logged, record, sized, someRecorded } from '@stemma/test-kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openProjector, verifyReplay, type Projector } from '../src/index.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(10, 25));

const codeOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => (isStemmaError(error) ? error.code : error),
  );

describe('a projector', () => {
  it('that has caught up reads none of the old records again: of rows that it did not write itself, once', async () => {
    const { log, contents } = await logged(someRecorded(3), 1);
    const from: number[] = [];
    const counted = {
      ...log,
      read: (...args: Parameters<typeof log.read>) => (from.push(args[1]), log.read(...args)),
    };
    const store = openMemoryRowStore();
    const end = await log.end(0);
    const caughtUp = async (projector: Projector): Promise<number> => {
      from.length = 0;
      await projector.catchUp();
      return from.filter((offset) => offset < end).length;
    };
    const projector = openProjector({ eager: 'all', log: counted, contents, store });
    expect(await caughtUp(projector)).toBeGreaterThan(0);
    expect(await caughtUp(projector)).toBe(0);
    expect(await caughtUp(projector)).toBe(0);
    const another = openProjector({ eager: 'all', log: counted, contents, store });
    expect(await caughtUp(another)).toBeGreaterThan(0);
    expect(await caughtUp(another)).toBe(0);
  });

  it('catches up with what was there when it was asked, though more is written all the time', async () => {
    const { entries } = someRecorded(3);
    const { log, contents } = await logged({ histories: new Map(), entries: entries.slice(0, 5) });
    const rest = entries.slice(5).values();
    const growing = {
      ...log,
      read: async (...args: Parameters<typeof log.read>) => {
        const batch = await log.read(...args);
        const { value } = rest.next();
        if (value !== undefined) await appendAll(log, [value]);
        return batch;
      },
    };
    const asked = await log.end(0);
    const projector = openProjector({ log: growing, contents, store: openMemoryRowStore() });
    await projector.catchUp();
    const at = (await projector.checkpoint(0))?.cursor.offset;
    expect(at).toBe(asked);
    expect(await log.end(0)).toBeGreaterThan(asked);
  });

  it('folds frames that this process decoded as they are, and decodes all of them in a rebuild', async () => {
    const { log, contents } = await logged(someRecorded(3), 1);
    const given = openDecodedFrames(Infinity);
    const other = openProjector({ eager: 'all', log, contents, store: openMemoryRowStore() });
    const { records } = await log.read(0, 0, { maxBytes: Infinity });
    const keepAll = async (): Promise<void> => {
      for (const { key, bytes } of records) {
        const open = openRecord(bytes);
        if (open === undefined || key === 'log:0') continue;
        given.keep(await readFrame({ ...open, bytes: open.frame }, contents), open.hash, bytes.length);
      }
    };
    await keepAll();
    let taken = 0;
    const decoded = {
      take: (...read: Parameters<typeof given.take>) => {
        const frame = given.take(...read);
        if (frame !== undefined) taken++;
        return frame;
      },
      stop: () => given.stop(),
    };
    const projector = openProjector({
      eager: 'all',
      log,
      contents,
      store: openMemoryRowStore(),
      decoded,
    });
    await other.catchUp();
    const rows = await allRows(await other.generation());
    await projector.catchUp();
    expect(taken).toBe(records.length - 1);
    expect(await allRows(await projector.generation())).toEqual(rows);
    await keepAll();
    await projector.rebuild();
    expect(taken).toBe(records.length - 1);
    expect(await allRows(await projector.generation())).toEqual(rows);
  });

  it('ends with the same rows whatever the batches and wherever it is stopped', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyRecorded(3, 25),
        fc.integer({ min: 1, max: 2 }),
        fc.infiniteStream(fc.nat(3)),
        async (actions, partitions, dice) => {
          const recorded = record(actions);
          const { log, contents } = await logged(recorded, partitions);
          const results = [];
          for (const frames of [Infinity, 1, 7, 1_000]) {
            const store = openMemoryRowStore();
            const stops = frames !== Infinity;
            let stopped = true;
            let projector: Projector | undefined;
            while (stopped) {
              stopped = false;
              const stop = (): boolean => (stopped ||= stops && dice.next().value === 0);
              projector = openProjector({ eager: 'all', log, contents, store, limits: { frames }, stop });
              await projector.catchUp();
            }
            results.push(await allRows(await (projector as Projector).generation()));
          }
          for (const rows of results.slice(1)) expect(rows).toEqual(results[0]);
          const rows = results[0] as Record<string, Row[]>;
          for (const [history, naive] of recorded.histories) {
            const store = openMemoryRowStore();
            const projector = openProjector({ eager: 'all', log, contents, store, cacheBytes: 1 });
            await projector.catchUp();
            expect(await allRows(await projector.generation())).toEqual(rows);
            expect(await projector.read((view) => readHistoryHead(view, history)?.next)).toBe(
              naive.frames.length,
            );
            await projector.read((view) => {
              for (const branchId of naive.branches.keys()) {
                const { nodes } = readBranchState(view, history, branchId, null);
                expect([...nodes].length).toBe(
                  [...naive.copyAt(branchId, naive.state.next - 1).nodes].length,
                );
              }
            });
          }
        },
      ),
      { numRuns: RUNS },
    );
  });

  it(
    'shares a store with another: the slower one continues from the checkpoint of the faster one',
    { tags: ['decision-0047'] },
    async () => {
      await fc.assert(
        fc.asyncProperty(anyRecorded(3, 20), async (actions) => {
          const recorded = record(actions);
          const { log, contents } = await logged(recorded);
          const store = openMemoryRowStore();
          const open = (frames: number): Projector =>
            openProjector({ eager: 'all', log, contents, store, limits: { frames } });
          const both = [open(2), open(3)];
          await Promise.all(both.map((each) => each.catchUp()));
          const alone = openProjector({ eager: 'all', log, contents, store: openMemoryRowStore() });
          await alone.catchUp();
          expect(await allRows(await both[0]!.generation())).toEqual(await allRows(await alone.generation()));
        }),
        { numRuns: RUNS },
      );
    },
  );

  it('verifies a replay against its rows, and names a changed row and its frame', async () => {
    const recorded = someRecorded(7);
    const { log, contents } = await logged(recorded);
    const store = openMemoryRowStore();
    const projector = openProjector({ eager: 'all', log, contents, store });
    const options = {
      scratch: () => openMemoryRowStore(),
      batchSizes: [null, 1, 7, 1_000],
      random: () => 0.3,
      stopEvery: 5,
    };
    const report = await verifyReplay(projector, options);
    expect({ differences: report.differences, first: report.first }).toEqual({ differences: 0, first: null });
    expect(report.rows).toBeGreaterThan(100);
    expect(report.accepted).toBe(4 * (recorded.entries.length + 1));

    const generation = await projector.generation();
    const [versions] = [HISTORY_STORE.tables[1]!];
    const row = (await allRows(generation))[versions.name]!.find(({ key }) => (key[5] as number) > 1);
    const cursor = (await generation.read((view) => view.cursor(0)))!;
    await generation.commit({
      partition: 0,
      expected: cursor,
      cursor,
      changes: [{ table: versions, key: row!.key, value: ['cb', 99] }],
    });
    const spoiled = await verifyReplay(projector, { scratch: () => openMemoryRowStore() });
    expect([spoiled.differences, spoiled.first?.table, spoiled.first?.key, spoiled.first?.seq]).toEqual([
      1,
      'versions',
      row!.key,
      row!.key[5],
    ]);
    await projector.rebuild();
    expect((await verifyReplay(projector, { scratch: () => openMemoryRowStore() })).differences).toBe(0);
  });

  it(
    'refuses a log that lost its end and grew again, until its rows are rebuilt',
    { tags: ['record§5:lost-end'] },
    async () => {
      const [recorded, other] = [someRecorded(3), someRecorded(4)];
      const { log, contents } = await logged(recorded);
      const store = openMemoryRowStore();
      await openProjector({ eager: 'all', log, contents, store }).catchUp();
      const records = log.records(0);
      records.length = 1;
      expect(await codeOf(openProjector({ eager: 'all', log, contents, store }).catchUp())).toBe(
        'E_CURSOR_LOST',
      );
      await appendAll(log, [...other.entries, ...other.entries]);
      const projector = openProjector({ eager: 'all', log, contents, store });
      expect(await codeOf(projector.catchUp())).toBe('E_CURSOR_LOST');
      await projector.rebuild();
      await projector.catchUp();
      const fresh = openProjector({ eager: 'all', log, contents, store: openMemoryRowStore() });
      await fresh.catchUp();
      expect(await allRows(await projector.generation())).toEqual(await allRows(await fresh.generation()));
    },
  );

  it(
    'rebuilds rows beside the current ones, and switches when the new ones are as far',
    { tags: ['decision-0004'] },
    async () => {
      const recorded = someRecorded(5);
      const { log, contents } = await logged(recorded);
      const store = openMemoryRowStore();
      const old = openProjector({ eager: 'all', log, contents, store, models: READ_MODELS.slice(0, 1) });
      await old.catchUp();
      const { name } = await old.generation();
      const raised = READ_MODELS.map((model) => ({ ...model, version: model.version + 1 }));
      const next = openProjector({ eager: 'all', log, contents, store, models: raised });
      expect([(await next.generation()).name === name, await store.current('all')]).toEqual([false, name]);
      await next.catchUp();
      expect(await store.current('all')).toBe((await next.generation()).name);
      const before = (await next.generation()).name;
      await next.rebuild();
      expect(await store.current('all')).toBe((await next.generation()).name);
      expect(await store.generations()).not.toContain(before);
    },
  );

  it('follows the log: a read that waits gets the appended records', async () => {
    const recorded = someRecorded(9);
    const log = await openMemoryLog();
    const { contents } = await logged(recorded);
    const projector = openProjector({ eager: 'all', log, contents, store: openMemoryRowStore() });
    const ending = new AbortController();
    const following = projector.follow(ending.signal);
    for (const entry of recorded.entries) {
      const [placed] = await log.append(0, [entry]);
      await projector.waitFor({ partition: 0, offset: placed!.next }, ending.signal);
      expect(await projector.read((view) => (view.get(HISTORY_HEADS, [entry.key])?.[0] as number) > 0)).toBe(
        true,
      );
    }
    ending.abort();
    await following;
  });

  it(
    'closes the history of a damaged record and of an impossible frame, and continues with the others',
    { tags: ['record§2:damaged'] },
    async () => {
      const recorded = someRecorded(11);
      const { log, contents } = await logged(recorded);
      const records = log.records(0);
      const at = records.findIndex(({ key }, i) => i > 10 && key === 'h0');
      const bytes = Uint8Array.from(records[at]!.bytes);
      bytes[bytes.length >> 1]! ^= 1;
      records[at] = { ...records[at]!, bytes };
      const projector = openProjector({
        eager: 'all',
        log,
        contents,
        store: openMemoryRowStore(),
        limits: { frames: 3 },
      });
      await projector.catchUp();
      const heads = await projector.read((view) =>
        ['h0', 'h1', 'h2'].map((history) => readHistoryHead(view, history)),
      );
      expect(heads[0]?.state).toBe('damaged');
      expect(heads.slice(1).map((head) => [head?.state, head?.next])).toEqual(
        ['h1', 'h2'].map((history) => ['open', recorded.histories.get(history)!.frames.length]),
      );
      expect(
        (await verifyReplay(projector, { scratch: () => openMemoryRowStore(), batchSizes: [1, null] }))
          .differences,
      ).toBe(0);
    },
  );
});
