import { scratchFolder } from '../scratch-folder.ts';
import { compareCodePoints } from '@stemma/canonical';
import { openCommandHandler } from '@stemma/command-handler';
import { openMemoryContents } from '@stemma/contents';
import { openMemoryLog, type EventLog } from '@stemma/log';
import { decodeCheckpoint, openProjector, verifyReplay, type Projector } from '@stemma/projector';
import { openMemoryRowStore, type RowStore } from '@stemma/row-store';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { commandsOf, isDone, type SentCommand } from './clients.ts';
import { copyLooks, copyRows, killedWriting, loseOthers, transactionOf, unsynced } from './crash-rows.ts';
import type { SimulatedRun } from './simulate.ts';
import { Killed, openDice, type Dice } from './power.ts';
import { watchFiles } from './watched-files.ts';

/** Which safeguard is left out: each must make a run fail. */
export type RowsAblation = 'rows sync' | 'rows state';
export const ROWS_ABLATIONS: readonly RowsAblation[] = ['rows sync', 'rows state'];

/** What of one environment the disk has, and what only the page cache. */
type OnDisk = {
  /** The file of the rows when it was synced last; undefined: never. */
  rows: Buffer | undefined;
  /** Later versions of it, the newest ones. */
  versions: readonly Buffer[];
  /** The file `state` when its folder was synced last. */
  state: Buffer | undefined;
};

/** What the process before has left. */
type Left = {
  readonly rows: string;
  /** What rows of which offsets may be found, as texts; undefined: any that the log has. */
  readonly cursors: ReadonlySet<string> | undefined;
  /** By the folder of the environment. */
  readonly disk: ReadonlyMap<string, OnDisk>;
};

/** One run: the rows of a log in real files, written by one process after the other, each of which ends or crashes. */
type Run = {
  readonly dice: Dice;
  readonly ablation: RowsAblation | undefined;
  readonly folder: string;
  readonly log: EventLog;
  readonly contents: ReturnType<typeof openMemoryContents>;
  readonly sent: readonly SentCommand[];
  readonly count: (what: string) => void;
  readonly wrong: (sentence: string) => void;
  clock: number;
  boot: number;
  lives: number;
  steps: number;
};

const PLACE = scratchFolder();
const NO_ROWS = '';
const VERSIONS = 4;

/**
 * A random run of rows in LMDB, on real files whose pages are mixed as a crash at any step leaves them: they open, hold no row that
 * is not what the log says, and become all that it says. The same in every run of a seed.
 */
export const simulateRows = async (seed: number, ablation?: RowsAblation): Promise<SimulatedRun> => {
  const dice = openDice(seed ^ 0x5bd1e995);
  const counts = new Map<string, number>();
  const wrong: string[] = [];
  const folder = realpathSync(mkdtempSync(join(PLACE, 'stemma-rows-')));
  const run: Run = {
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
const live = async (run: Run, left: Left, isLast: boolean): Promise<Left> => {
  const { dice } = run;
  const inCalls = dice.chance(0.4);
  const life = openLife(run, left, {
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

/** What of the rows there is, and up to where: equal texts, equal rows. */
const cursorsText = async (store: RowStore): Promise<string> => {
  const found: string[] = [];
  for (const name of await store.generations())
    for (const [partition, cursor] of await store.cursors(name))
      found.push(`${name} ${partition}@${decodeCheckpoint(cursor).cursor.offset}`);
  return found.sort(compareCodePoints).join();
};

/** Compares the rows that were found with the log as far as they go, then sends commands and folds them. */
const work = async (run: Run, store: RowStore, isLast: boolean): Promise<void> => {
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

type Life = {
  /** The same store, whose writes are steps. */
  readonly counted: (store: RowStore) => RowStore;
  readonly opened: (cursors: string) => void;
  readonly losePower: () => void;
  readonly left: () => Left | undefined;
  /** What it leaves if nothing happens any more. */
  readonly asItIs: () => Left;
  readonly end: () => void;
};

/** @param ends after so many changes of files by `node:fs`, or so many writes of LMDB, it crashes */
const openLife = (
  run: Run,
  before: Left,
  ends: { readonly calls: number; readonly writes: number },
): Life => {
  const { dice, ablation } = run;
  const { rows } = before;
  const next = join(run.folder, `rows-${run.lives + 1}`);
  const disk = new Map([...before.disk].map(([name, each]) => [name, { ...each }] as const));
  let { calls, writes } = ends;
  let left: Left | undefined;
  let cursors: ReadonlySet<string> | undefined;

  const hasCrashed = (): boolean => left !== undefined;
  const onDisk = (name: string): OnDisk => {
    const found = disk.get(name) ?? { rows: undefined, versions: [], state: undefined };
    disk.set(name, found);
    return found;
  };
  /** The folder of the environment that counts. */
  const current = (): string | undefined => {
    const names = existsSync(rows) ? readdirSync(rows).filter((name) => /^\d+$/.test(name)) : [];
    return names.length === 0 ? undefined : String(Math.max(...names.map(Number)));
  };
  const bytesIn = (folder: string, name: string | undefined, file: string): Buffer | undefined => {
    const path = join(folder, name ?? '', file);
    return name !== undefined && existsSync(path) ? readFileSync(path) : undefined;
  };

  const kill = (mixed: Buffer | undefined): void => {
    const name = current();
    copyRows(rows, next);
    if (mixed !== undefined && name !== undefined) writeFileSync(join(next, name, 'rows.mdb'), mixed);
    if (name !== undefined) copyLooks(join(rows, name), join(next, name));
    run.count(mixed === undefined ? 'rows killed between writes' : 'rows killed in a write');
    left = { rows: next, cursors, disk };
  };
  const losePower = (): void => {
    const name = current();
    copyRows(rows, next);
    run.boot++;
    run.count('rows without power');
    left = { rows: next, cursors: undefined, disk: new Map() };
    const file = bytesIn(rows, name, 'rows.mdb');
    if (name === undefined || file === undefined) return;
    const losesOthers = dice.chance(0.5);
    if (losesOthers) loseOthers(next, dice);
    const known = onDisk(name);
    const kept = unsynced(known.rows, isSame(known.rows, file) ? [] : [...known.versions, file], dice);
    writeFileSync(join(next, name, 'rows.mdb'), kept);
    const state = dice.chance(0.5) ? known.state : bytesIn(rows, name, 'state');
    if (state === undefined) rmSync(join(next, name, 'state'), { force: true });
    else writeFileSync(join(next, name, 'state'), state);
    if (!losesOthers) copyLooks(join(rows, name), join(next, name));
    const word = state?.toString().split(' ')[0];
    // What was closed before the power went is there; what was not is thrown away, whatever it looks like.
    const isUnsynced = word === 'written' || known.versions.length > 0;
    const isKept = word === 'clean' && !losesOthers;
    const clean = isKept ? cursors : undefined;
    left = {
      rows: next,
      cursors: isUnsynced ? new Set([NO_ROWS]) : clean,
      disk: new Map([[name, { rows: kept, versions: [], state }]]),
    };
  };
  const crash = (mixed?: Buffer): never => {
    if (dice.chance(0.5)) losePower();
    else kill(mixed);
    throw new Killed('killed');
  };
  const step = (): void => {
    run.steps++;
    if (!hasCrashed() && --calls === 0) crash();
  };
  const synced = (path: string): void => {
    if (hasCrashed()) return;
    const name = basename(dirname(path));
    if (basename(path) === 'rows.mdb' && ablation !== 'rows sync')
      Object.assign(onDisk(name), { rows: readFileSync(path), versions: [] });
    else if (statSync(path).isDirectory() && ablation !== 'rows state')
      onDisk(basename(path)).state = bytesIn(rows, basename(path), 'state');
  };
  /** A write of LMDB. Who is killed in the middle of it leaves what was there before, or what is there after. */
  const writing = async <T>(store: RowStore, write: () => Promise<T>): Promise<T> => {
    if (hasCrashed()) throw new Killed('killed');
    run.steps++;
    const [name, was] = [current(), await cursorsText(store)];
    const old = bytesIn(rows, name, 'rows.mdb');
    cursors = new Set([was]);
    const answer = await write();
    const is = await cursorsText(store);
    const written = bytesIn(rows, name, 'rows.mdb');
    if (name !== undefined && written !== undefined) {
      const known = onDisk(name);
      known.versions = [...known.versions, written].slice(-VERSIONS);
    }
    cursors = new Set([is]);
    if (!hasCrashed() && --writes === 0) {
      // Between two transactions others are in the middle of things as well.
      const isOne = old && written && transactionOf(written) === transactionOf(old) + 1;
      if (isOne) cursors = new Set([was, is]);
      crash(isOne ? killedWriting(old, written, dice) : undefined);
    }
    return answer;
  };
  const end = watchFiles(rows, step, synced);
  return {
    opened: (found) => {
      cursors = new Set([found]);
    },
    losePower,
    left: () => left,
    asItIs: () => ({ rows, cursors, disk }),
    end,
    counted: (store) => ({
      ...store,
      generation: async (name, tables) => {
        const generation = await store.generation(name, tables);
        return { ...generation, commit: (batch) => writing(store, () => generation.commit(batch)) };
      },
      promote: (promotion) => writing(store, () => store.promote(promotion)),
      drop: (name) => writing(store, () => store.drop(name)),
      discard: async (generation) => {
        // Until it is done anything may be found, and then nothing.
        cursors = undefined;
        const done = await store.discard(generation);
        cursors = new Set([await cursorsText(store)]);
        return done;
      },
    }),
  };
};

const isSame = (a: Buffer | undefined, b: Buffer): boolean => a?.equals(b) === true;
