import { describe, expect, it } from 'vitest';
import { sized } from '../sized.ts';
import { simulate } from './simulate.ts';
import { ABLATIONS } from './world.ts';

const SEEDS = sized(40, 300);

describe('homes on a simulated machine that fails', () => {
  it(`keep what was acknowledged, once and readable, in ${SEEDS} lives [record §6: durable, §6: killed]`, async () => {
    const wrong: unknown[] = [];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const life = await simulate(seed);
      if (life.wrong.length > 0) wrong.push({ seed, wrong: life.wrong });
    }
    expect(wrong).toEqual([]);
  }, 120_000);

  it('live the same life each time a seed is run', async () => {
    expect(await simulate(7)).toEqual(await simulate(7));
  });

  it.each(ABLATIONS)(
    'break without the %s [record §6: durable]',
    async (ablation) => {
      let found = 0;
      for (let seed = 1; seed <= 400 && found === 0; seed++)
        found = (await simulate(seed, ablation)).wrong.length;
      expect(found).toBeGreaterThan(0);
    },
    120_000,
  );
});
