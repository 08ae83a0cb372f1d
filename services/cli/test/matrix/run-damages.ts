import { scratchFolder } from '@stemma/test-kit';
import { seeded } from '@stemma/log/contract';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { openAsker } from './asker.ts';
import { allDamages, type Damage } from './damages.ts';
import { openWhole, tryDamage, type Whole } from './try-damage.ts';
import { makeHome } from './whole-home.ts';

// Hundreds of homes are synced: in memory it costs nothing.
const PLACE = scratchFolder();
/** Of one command, in milliseconds: ten times what it takes on a machine that does ten other things. */
const DEADLINE = 60_000;

export type DamagesOptions = {
  readonly count: number;
  readonly seed: number;
  /** Only files whose path has this in it. */
  readonly part?: string;
  readonly workers: number;
  /** So many questions before the remedy, and as many after it. */
  readonly questions: number;
  readonly say?: (line: string) => void;
  /** Appends in the thread of the commands, which is cheaper. */
  readonly oneThread?: boolean;
  /** Of so many equal parts of the picked damages only this one, from 0. */
  readonly shard?: { readonly number: number; readonly of: number };
  /** Leaves out so many of the picked damages, the first ones. */
  readonly from?: number;
  /** Keeps the home and what came of each damage: another run goes on where one ended. */
  readonly folder?: string;
};

export type DamagesReport = {
  readonly tried: number;
  readonly all: number;
  readonly files: number;
  readonly wrong: readonly string[];
};

/** What came of one damage, as a line in the folder of a run. */
type Tried = { readonly number: number; readonly wrong: readonly string[] };

/** Damages copies of a home, each at one place, and judges what every one of them answers. */
export const runDamages = async (options: DamagesOptions): Promise<DamagesReport> => {
  const { shard = { number: 0, of: 1 }, from = 0, oneThread = false, say } = options;
  const folder = mkdtempSync(join(PLACE, 'stemma-matrix-'));
  const home = join(folder, 'whole');
  try {
    await homeIn(options.folder, home, folder);
    const all = allDamages(home).filter(({ file }) => file.includes(options.part ?? ''));
    const picked = pickEvenly(all, options.count, seeded(options.seed));
    const notes = notesIn(options.folder, `${shard.number}-of-${shard.of}`);
    const tried: Tried[] = [...notes.tried];
    const known = new Set(tried.map(({ number }) => number));
    const left = [...picked.keys()].filter(
      (i) => i >= from && i % shard.of === shard.number && !known.has(i),
    );
    say?.(`${tried.length} were tried before, ${left.length} are left`);
    let next = 0;
    let opening: Promise<Whole> | undefined;
    const work = async (): Promise<void> => {
      await using asker = openAsker(DEADLINE, oneThread);
      opening ??= openWhole(asker, home, join(folder, 'asked'));
      const whole = await opening;
      refuseOlder(whole);
      while (next < left.length) {
        const i = left[next++] as number;
        const copy = join(folder, `copy-${i}`);
        const random = seeded(options.seed * 1_000_003 + i);
        const wrong = await tryDamage(asker, whole, copy, picked[i] as Damage, random, options.questions);
        for (const each of wrong) say?.(each);
        tried.push({ number: i, wrong });
        notes.note({ number: i, wrong });
        if (tried.length % 100 === 0) say?.(`… ${tried.length} of ${left.length + known.size}`);
      }
    };
    await Promise.all(Array.from({ length: options.workers }, work));
    return {
      tried: tried.length,
      all: all.length,
      files: filesIn(all),
      wrong: tried.flatMap(({ wrong }) => wrong),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Rows of another version are built anew beside those that the home has: what is damaged in those, nobody reads. */
const refuseOlder = ({ home, asked }: Whole): void => {
  const [kept, now] = [home, asked].map((each) => statSync(join(each, 'rows/1/rows.mdb')).size);
  if (kept !== now) throw new Error('the kept home has rows of another version: take another folder');
};

/** Puts the home of a kept folder at `home`; makes it, and keeps it, if there is none. */
const homeIn = async (kept: string | undefined, home: string, folder: string): Promise<void> => {
  const known = kept === undefined ? undefined : join(kept, 'whole');
  if (known !== undefined && existsSync(known)) {
    cpSync(known, home, { recursive: true });
    return;
  }
  await makeHome(home, folder);
  if (known !== undefined) cpSync(home, known, { recursive: true });
};

/** The notes of a shard: a line for each damage that was tried. */
const notesIn = (kept: string | undefined, shard: string) => {
  if (kept === undefined) return { tried: [], note: () => undefined };
  mkdirSync(kept, { recursive: true });
  const file = join(kept, `tried-${shard}.jsonl`);
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return {
    tried: lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Tried),
    note: (tried: Tried): void => appendFileSync(file, `${JSON.stringify(tried)}\n`),
  };
};

const filesIn = (damages: readonly Damage[]): number => new Set(damages.map(({ file }) => file)).size;

/** Each file as often as any other, and each of its damages as likely: a large file does not crowd out a small one. */
const pickEvenly = (all: readonly Damage[], count: number, random: () => number): readonly Damage[] => {
  const left = Map.groupBy(all, ({ file }) => file);
  const picked: Damage[] = [];
  const most = Math.min(count, all.length);
  while (picked.length < most)
    for (const list of left.values()) {
      if (list.length === 0 || picked.length === most) continue;
      picked.push(...list.splice(Math.floor(random() * list.length), 1));
    }
  return picked;
};
