import { EMBEDDER } from '@stemma/analysis';
import { openMemoryContents } from '@stemma/contents';
import { readHistoryHead } from '@stemma/history-store';
import { openMemoryLog } from '@stemma/log';
import {
  countStream,
  findPromptSize,
  listChangedNodes,
  listEmbeddedMessages,
  READ_MODELS,
} from '@stemma/read-models';
import { openMemoryRowStore, type RowReader, type RowStore } from '@stemma/row-store';
import { allRows, anyRecorded, appendAll, logged, record, sized, someRecorded } from '@stemma/test-kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openProjector, verifyReplay, type Projector } from '../src/index.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(15, 60));

const ON_DEMAND = READ_MODELS.filter(({ onDemand }) => onDemand === true).map(({ name }) => name);

/** How rows of each are read, by who needs them; `next` is the number of frames of the history. */
const READS: Readonly<Record<string, (view: RowReader, history: string, next: number) => number>> = {
  stages: (view, history, next) => countStream(view, history, 0, next - 1),
  diffs: (view, history, next) => listChangedNodes(view, history, 0, 0, next - 1).length,
  pool: (view, history, next) =>
    listEmbeddedMessages(view, { history, branchId: 0, seq: next - 1 }, EMBEDDER).length,
  sizes: (view, history) => Number(findPromptSize(view, history, { branchId: 0, seq: 0 })?.messages),
};

/** Asks for the rows of one read model of a history, as far as the history goes. */
const ask = (projector: Projector, model: string, history: string): Promise<number> =>
  projector.read((view) => {
    const next = readHistoryHead(view, history)?.next ?? 0;
    const read = READS[model];
    if (read === undefined) throw new Error(`nothing here reads rows of ${model}`);
    return next === 0 ? 0 : read(view, history, next);
  });

const tableOf = async (store: RowStore, projector: Projector, name: string): Promise<unknown[]> => {
  expect(await store.generations()).toHaveLength(1);
  return (await allRows(await projector.generation()))[name] ?? [];
};

describe('read models on demand', () => {
  it('have no rows of a history before somebody reads them, and then only of that one', async () => {
    const { log, contents } = await logged(someRecorded(5, 2));
    const store = openMemoryRowStore();
    const projector = openProjector({ log, contents, store });
    await projector.catchUp();
    expect(await tableOf(store, projector, 'streams')).toEqual([]);
    expect(await ask(projector, 'stages', 'h1')).toBeGreaterThan(0);
    const next = await projector.read((view) => readHistoryHead(view, 'h1')?.next);
    expect(await tableOf(store, projector, 'on_demand')).toEqual([{ key: ['h1', 'stages'], value: [next] }]);
    expect(await tableOf(store, projector, 'timeline')).toEqual([]);
  });

  it('say how many frames of a history they lack, without folding one', async () => {
    const { log, contents } = await logged(someRecorded(5, 2));
    const store = openMemoryRowStore();
    const projector = openProjector({ log, contents, store });
    await projector.catchUp();
    const next = await projector.read((view) => readHistoryHead(view, 'h1')?.next);
    const lacking = (history: string) =>
      Promise.all(READ_MODELS.map(async (model) => [model.name, await projector.lacking?.(history, model)]));
    const onDemand = READ_MODELS.map(({ name, onDemand: is }) => [name, is === true ? next : 0]);
    expect(await lacking('h1')).toEqual(onDemand);
    expect(await tableOf(store, projector, 'on_demand')).toEqual([]);
    await ask(projector, 'diffs', 'h1');
    expect(await lacking('h1')).toEqual(onDemand.map(([name, is]) => [name, name === 'diffs' ? 0 : is]));
  });

  it('are read from the frames that have come since, and no others', async () => {
    const recorded = someRecorded(6, 1, 40);
    const log = await openMemoryLog();
    const half = recorded.entries.length >> 1;
    await appendAll(log, recorded.entries.slice(0, half));
    const projector = openProjector({ log, contents: openMemoryContents(), store: openMemoryRowStore() });
    await projector.catchUp();
    await ask(projector, 'diffs', 'h0');
    await appendAll(log, recorded.entries.slice(half));
    await projector.catchUp();
    const read: number[] = [];
    const { payloads } = projector;
    const { ...unwatched } = payloads;
    Object.assign(payloads, {
      frames: (...args: Parameters<typeof payloads.frames>) => (
        read.push(...args[1]),
        unwatched.frames(...args)
      ),
    });
    await ask(projector, 'diffs', 'h0');
    expect(read).toEqual(recorded.entries.slice(half).map((_, i) => half + i));
    await ask(projector, 'diffs', 'h0');
    expect(read).toHaveLength(recorded.entries.length - half);
  });

  it('end with the rows that are folded with every frame, whoever asks whom when', async () => {
    const step = fc.record({
      append: fc.nat(6),
      who: fc.nat(1),
      asks: fc.array(fc.tuple(fc.nat(1), fc.constantFrom(...ON_DEMAND), fc.nat(2)), {
        maxLength: 3,
      }),
    });
    await fc.assert(
      fc.asyncProperty(anyRecorded(3, 25), fc.array(step, { maxLength: 12 }), async (actions, steps) => {
        const { histories, entries } = record(actions);
        const log = await openMemoryLog();
        const contents = openMemoryContents();
        const store = openMemoryRowStore();
        const limits = { frames: 5 };
        const projectors = [0, 1].map(() => openProjector({ log, contents, store, limits }));
        const rest = [...entries];
        for (const { append, who, asks } of steps) {
          await appendAll(log, rest.splice(0, append));
          await Promise.all([
            projectors[who]?.catchUp(),
            ...asks.map(([whom, model, history]) => ask(projectors[whom] as Projector, model, `h${history}`)),
          ]);
        }
        await appendAll(log, rest);
        const [projector] = projectors as [Projector];
        expect(await verifyReplay(projector, { scratch: openMemoryRowStore })).toMatchObject({
          differences: 0,
        });
        for (const history of histories.keys())
          for (const model of ON_DEMAND) await ask(projector, model, history);
        const { on_demand: _, ...rows } = await allRows(await projector.generation());
        const eager = openProjector({ log, contents, store: openMemoryRowStore(), eager: 'all' });
        await eager.catchUp();
        expect(rows).toEqual(await allRows(await eager.generation()));
        expect(await verifyReplay(projector, { scratch: openMemoryRowStore })).toMatchObject({
          differences: 0,
        });
      }),
      { numRuns: RUNS },
    );
  });

  it('that differ are named by a replay', async () => {
    const { log, contents } = await logged(someRecorded(7, 2));
    const wrong = READ_MODELS.map((model) =>
      model.name === 'diffs' ? { ...model, fold: () => undefined } : model,
    );
    const store = openMemoryRowStore();
    const before = openProjector({ log, contents, store, models: wrong });
    await before.catchUp();
    await ask(before, 'diffs', 'h0');
    const projector = openProjector({ log, contents, store });
    await projector.catchUp();
    await ask(projector, 'diffs', 'h0');
    const report = await verifyReplay(projector, { scratch: openMemoryRowStore });
    expect(report.differences).toBeGreaterThan(0);
  });
});
