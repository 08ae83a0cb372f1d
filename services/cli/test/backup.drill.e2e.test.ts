import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';
import { transcripts } from './transcripts.ts';

const LOAD = join(import.meta.dirname, 'children/write-until-killed.ts');

/** A process that writes to a home until it is killed. */
const writeInto = (
  home: string,
  name: string,
): {
  readonly acknowledged: () => number;
  readonly reach: (count: number) => Promise<void>;
  readonly kill: () => Promise<void>;
} => {
  const child = spawn(process.execPath, [LOAD, home, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let acknowledged = 0;
  const wakes = new Set<() => void>();
  createInterface(child.stdout).on('line', (line) => {
    acknowledged = Number(line);
    for (const wake of wakes) wake();
  });
  return {
    acknowledged: () => acknowledged,
    reach: async (count) => {
      const reached = new Promise<void>((resolve) => {
        wakes.add(() => {
          if (acknowledged >= count) resolve();
        });
        if (acknowledged >= count) resolve();
      });
      await Promise.race([
        reached,
        ended.then(() => {
          if (acknowledged < count) throw new Error(`the writer ended at ${acknowledged}`);
        }),
      ]);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
};

type Snapshot = { readonly label: string };

const SAMPLES = join(import.meta.dirname, '../../../samples');

/** Real transcripts where the checkout has them beside it. */
const some =
  transcripts.length > 0
    ? transcripts.slice(0, 2).map(({ file }) => file)
    : ['harbour-tram.chat.json', 'slow-checkout.steps.jsonl'].map((name) => join(SAMPLES, name));

test(
  'a home that is backed up under load, destroyed and restored verifies, replays and answers as before',
  { tags: ['decision-0058'], timeout: 120_000 },
  async () => {
    using folder = temporaryFolder();
    const [home, backup, restored] = ['home', 'backup', 'restored'].map((name) =>
      join(folder.path, name),
    ) as [string, string, string];
    await stemmaJson(['import', ...some, '--home', home]);
    const load = writeInto(home, 'load');
    try {
      await load.reach(5);
      for (const target of [backup, `${backup}.tar`]) {
        await load.reach(load.acknowledged() + 3);
        const { code, stderr } = await runStemma(['backup', target, '--home', home]);
        expect([code, stderr]).toEqual([0, '']);
      }
      const acknowledged = load.acknowledged();
      expect((await runStemma(['backup', backup, '--home', home])).code).toBe(0);
      await load.reach(load.acknowledged() + 3);
      const answers = (at: string, of: readonly string[]): Promise<unknown[]> =>
        Promise.all(
          of.flatMap((history) => [
            stemmaJson(['snapshots', history, '--home', at]),
            stemmaJson(['thread', history, '--home', at]),
            stemmaJson(['log', history, '--home', at]),
          ]),
        );
      const histories = (await stemmaJson(['histories', '--home', home])) as {
        history: string;
        name: string | null;
      }[];
      const imported = histories
        .filter(({ name }) => name?.startsWith('load') !== true)
        .map(({ history }) => history);
      const before = await answers(home, imported);
      await load.kill();
      const all = (await stemmaJson(['snapshots', 'load-1', '--home', home])) as Snapshot[];
      rmSync(home, { recursive: true });

      for (const from of [backup, `${backup}.tar`]) {
        const { code, stdout } = await runStemma(['restore', from, '--to', restored]);
        expect([code, stdout]).toEqual([0, expect.stringContaining('4 histories')]);
        for (const check of [['verify'], ['replay', '--verify']])
          expect((await runStemma([...check, '--home', restored])).code).toBe(0);
        expect(await answers(restored, imported)).toEqual(before);
        const kept = (await stemmaJson(['snapshots', 'load-1', '--home', restored])) as Snapshot[];
        expect(all).toEqual(expect.arrayContaining(kept));
        if (from === backup) expect(kept.length).toBeGreaterThanOrEqual(acknowledged);
        rmSync(restored, { recursive: true });
      }
    } finally {
      await load.kill();
    }
  },
);
