import { sized } from '@stemma/test-kit';
import { describe, expect, it } from 'vitest';
import { simulate } from './simulation.ts';
import type { Ablation } from './simulation-world.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(1_500, 20_000));

/** Seeds that once went wrong, or might have. */
const REGRESSIONS: readonly number[] = [];

describe('random logs with competing writers, damage, garbage, and a lost end', () => {
  it(
    `follow the rules of the record in ${RUNS} runs`,
    {
      tags: ['record§2:damaged', 'record§2:stale', 'record§3:outcome', 'record§5:lost-end'],
      timeout: 300_000,
    },
    async () => {
      const wrong: unknown[] = [];
      for (const seed of REGRESSIONS) wrong.push(...(await outcome(seed)));
      for (let seed = 1; seed <= RUNS && wrong.length < 5; seed++) wrong.push(...(await outcome(seed)));
      expect(wrong).toEqual([]);
    },
  );

  it.each<[Ablation, string]>([
    ['record hash', 'an altered frame was served'],
    ['tail hashes', 'two readers disagree'],
    ['remembered commands', 'a command has two effects'],
  ])(
    'break a rule at once without the %s',
    { tags: ['record§1:record', 'record§3:commands-remembered', 'record§5:cursor'] },
    async (ablation, expected) => {
      const seen = new Set<string>();
      for (let seed = 1; seed <= 300; seed++) seen.add((await outcomeWithout(seed, ablation)) ?? 'nothing');
      expect([...seen]).toContain(expected);
    },
  );
});

const outcome = async (seed: number): Promise<unknown[]> => {
  const wrong = await simulate(seed);
  return wrong === undefined ? [] : [{ seed, wrong }];
};

/** Some altered frames stop the reader altogether. */
const outcomeWithout = async (seed: number, ablation: Ablation): Promise<string | undefined> => {
  try {
    return await simulate(seed, ablation);
  } catch (error) {
    return String(error);
  }
};
