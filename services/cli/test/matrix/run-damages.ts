import { seeded } from '@stemma/log/contract';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAsker } from './asker.ts';
import { allDamages, type Damage } from './damages.ts';
import { openWhole, tryDamage, type Whole } from './try-damage.ts';
import { makeHome } from './whole-home.ts';

// Hundreds of homes are synced: in memory it costs nothing.
const PLACE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
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
};

export type DamagesReport = {
  readonly tried: number;
  readonly all: number;
  readonly files: number;
  readonly wrong: readonly string[];
};

/** Damages copies of a home, each at one place, and judges what every one of them answers. */
export const runDamages = async (options: DamagesOptions): Promise<DamagesReport> => {
  const folder = mkdtempSync(join(PLACE, 'stemma-matrix-'));
  const home = join(folder, 'whole');
  try {
    await makeHome(home, folder);
    const all = allDamages(home).filter(({ file }) => file.includes(options.part ?? ''));
    const picked = pickEvenly(all, options.count, seeded(options.seed));
    const wrong: string[] = [];
    let next = 0;
    let opening: Promise<Whole> | undefined;
    const work = async (): Promise<void> => {
      await using asker = openAsker(DEADLINE);
      opening ??= openWhole(asker, home);
      const whole = await opening;
      for (let i = next++; i < picked.length; i = next++) {
        const copy = join(folder, `copy-${i}`);
        const random = seeded(options.seed * 1_000_003 + i);
        const found = await tryDamage(asker, whole, copy, picked[i] as Damage, random, options.questions);
        for (const each of found) options.say?.(each);
        wrong.push(...found);
        if ((i + 1) % 10 === 0) options.say?.(`… ${i + 1} of ${picked.length}`);
      }
    };
    await Promise.all(Array.from({ length: options.workers }, work));
    return { tried: picked.length, all: all.length, files: filesIn(all), wrong };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const filesIn = (damages: readonly Damage[]): number => new Set(damages.map(({ file }) => file)).size;

/** Each file as often as any other, and each of its damages as likely: a large file does not crowd out a small one. */
const pickEvenly = (all: readonly Damage[], count: number, random: () => number): readonly Damage[] => {
  if (count >= all.length) return all;
  const left = Map.groupBy(all, ({ file }) => file);
  const picked: Damage[] = [];
  while (picked.length < count)
    for (const list of left.values()) {
      if (list.length === 0 || picked.length === count) continue;
      picked.push(...list.splice(Math.floor(random() * list.length), 1));
    }
  return picked;
};
