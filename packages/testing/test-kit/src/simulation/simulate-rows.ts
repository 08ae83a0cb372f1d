import { scratchFolder } from '../scratch-folder.ts';
import { openCommandHandler } from '@stemma/command-handler';
import { openMemoryContents } from '@stemma/contents';
import { openMemoryLog, type EventLog } from '@stemma/log';
import { decodeCheckpoint, openProjector, verifyReplay, type Projector } from '@stemma/projector';
import { openMemoryRowStore, type RowStore } from '@stemma/row-store';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { commandsOf, isDone, type SentCommand } from './clients.ts';
import { cursorsText, Life, NO_ROWS, type Left, type RowsAblation, type RowsRun } from './rows-life.ts';
import type { SimulatedRun } from './simulate.ts';
import { openDice } from './power.ts';

const PLACE = scratchFolder();

/**
 * A random run of rows in LMDB, on real files whose pages are mixed as a crash at any step leaves them: they open, hold no row that
 * is not what the log says, and become all that it says. The same in every run of a seed.
 */
export const simulateRows = async (seed: number, ablation?: RowsAblation): Promise<SimulatedRun> => {
  const dice = openDice(seed ^ 0x5bd1e995);
  const counts = new Map<string, number>();
  const wrong: string[] = [];
  const folder = realpathSync(mkdtempSync(join(PLACE, 'stemma-rows-')));
  const run: RowsRun = {
    dice,
    ablation,
    folder,
    log: await openMemoryLog({ partitions: 1 + dice.int(2) }),
    contents: openMemoryContents(),
    sent: commandsOf({ dice }),
    count: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
    wrong: (sentence) => void wrong.push(`rows: ${sentence}`),
    clock: 1,
    boot: 1,
    lives: 0,
    steps: 0,
  };
  try {
    let left: Left = { rows: join(folder, 'rows-0'), cursors: undefined, disk: new Map() };
    for (let lives = 2 + dice.int(3); lives > 0; lives--) left = await live(run, left, lives === 1);
  } catch (error) {
    run.wrong(error instanceof Error ? error.message : String(error));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { seed, wrong: [...new Set(wrong)], steps: run.steps, counts };
};

/** One process, from its start to its end or its crash; the last one does not crash. */
const live = async (run: RowsRun, left: Left, isLast: boolean): Promise<Left> => {
  const { dice } = run;
  const inCalls = dice.chance(0.4);
  const life = new Life(run, left, {
    calls: isLast || !inCalls ? Infinity : 1 + dice.int(80),
    writes: isLast || inCalls ? Infinity : 1 + dice.int(10),
  });
  let store: RowStore | undefined;
  try {
    store = life.counted(openLmdbRowStore({ directory: left.rows, boot: `boot${run.boot}` }));
    const found = await cursorsText(store);
    if (left.cursors?.has(found) === false)
      run.wrong(`found '${found}', not ${[...left.cursors].map((text) => `'${text}'`).join(' or ')}`);
    life.opened(found);
    await work(run, store, isLast);
    await store.close();
    // What a note cannot be written for is not told to anybody: it may have crashed in the middle of closing.
    if (life.left() === undefined) {
      run.count('rows closed');
      if (!isLast && dice.chance(0.6)) life.losePower();
    }
  } catch (error) {
    if (life.left() === undefined) throw error;
  } finally {
    life.end();
    // It has files open that nobody reads any more.
    if (life.left() !== undefined) await store?.close().catch(() => undefined);
  }
  run.lives++;
  return life.left() ?? life.asItIs();
};

/** Compares the rows that were found with the log as far as they go, then sends commands and folds them. */
const work = async (run: RowsRun, store: RowStore, isLast: boolean): Promise<void> => {
  const { dice, log, contents, sent } = run;
  const projectorOn = (read: EventLog): Projector =>
    openProjector({
      eager: 'all',
      log: read,
      contents,
      store,
      now: () => run.clock++,
      limits: { frames: 1 + dice.int(6) },
    });
  const compare = async (projector: Projector, when: string): Promise<void> => {
    const { differences, first } = await verifyReplay(projector, {
      scratch: () => openMemoryRowStore(),
      batchSizes: [1 + dice.int(8)],
    });
    if (differences > 0) run.wrong(`${when} ${differences} differ from the log, in ${first?.table ?? ''}`);
  };
  if ((await cursorsText(store)) !== NO_ROWS) {
    run.count('rows found');
    await compare(projectorOn(await logUpTo(log, store)), 'of those found');
  }
  if (!isLast && dice.chance(0.15)) return;
  const projector = projectorOn(log);
  const handler = openCommandHandler({
    log,
    contents,
    rows: projector,
    clock: () => BigInt(run.clock++),
    accepted: () => undefined,
    timers: { random: dice.roll, sleep: () => Promise.resolve(), now: () => run.clock++ },
  });
  const open = (): SentCommand[] =>
    sent.filter((each) => !isDone(each) && (each.after === undefined || each.after.answer !== undefined));
  for (let count = isLast ? Infinity : dice.int(20); count > 0 && open().length > 0; count--) {
    const next = dice.pick(open());
    const { seq } = await handler.submit(next.command);
    next.answer = { seq, partition: 0, end: 0 };
    if (dice.chance(0.5)) await projector.catchUp();
    // Somebody has found a damaged row.
    const current = (await store.generations())[0];
    if (current !== undefined && dice.chance(0.03)) await store.discard(current);
  }
  await projector.catchUp();
  await handler.close();
  if (isLast) await compare(projector, 'in the end');
};

/** The log as it was when the rows had all of it. */
const logUpTo = async (log: EventLog, store: RowStore): Promise<EventLog> => {
  const ends = new Map<number, number>();
  for (const name of await store.generations())
    for (const [partition, cursor] of await store.cursors(name))
      ends.set(partition, Math.max(ends.get(partition) ?? 0, decodeCheckpoint(cursor).cursor.offset));
  const endOf = (partition: number): number => ends.get(partition) ?? 0;
  return {
    ...log,
    end: async (partition) => endOf(partition),
    read: async (partition, from, options) => {
      const { records } = await log.read(partition, from, options);
      const seen = records.filter(({ offset }) => offset < endOf(partition));
      return { records: seen, next: seen.at(-1)?.next ?? from };
    },
  };
};
