import { describe, expect, it } from 'vitest';
import { sized } from '../sized.ts';
import { simulate } from './simulate.ts';
import { ABLATIONS } from './simulation.ts';

const SEEDS = sized(25, 300);

describe('homes on a simulated machine that fails', () => {
  it(`keep every acknowledged record once and readable, in ${SEEDS} simulated runs [record §6: durable, §6: killed]`, async () => {
    const wrong: unknown[] = [];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const result = await simulate(seed);
      if (result.wrong.length > 0) wrong.push({ seed, wrong: result.wrong });
    }
    expect(wrong).toEqual([]);
  }, 120_000);

  it('run identically each time a seed is run', async () => {
    expect(await simulate(7)).toEqual(await simulate(7));
  });

  // What is missing shows at about one seed in ten, a cursor at one in a hundred; where the search begins.
  it.each(ABLATIONS.map((ablation) => [ablation, ablation === 'expected cursor' ? 80 : 1] as const))(
    'break without the %s [record §6: durable]',
    async (ablation, first) => {
      let found = 0;
      for (let seed = first; seed <= 400 && found === 0; seed++)
        found = (await simulate(seed, ablation)).wrong.length;
      expect(found).toBeGreaterThan(0);
    },
    120_000,
  );
});
