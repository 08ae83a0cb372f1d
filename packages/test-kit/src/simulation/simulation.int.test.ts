import { describe, expect, it } from 'vitest';
import { sized } from '../sized.ts';
import { simulate } from './simulate.ts';
import { ABLATIONS } from './simulated-machine.ts';

const SEEDS = sized(40, 300);

describe('homes on a simulated machine that fails', () => {
  it(`keep every acknowledged command, once and readable, in ${SEEDS} runs [record §6: durable, §6: killed]`, async () => {
    const wrong: unknown[] = [];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const run = await simulate(seed);
      if (run.wrong.length > 0) wrong.push({ seed, wrong: run.wrong });
    }
    expect(wrong).toEqual([]);
  }, 120_000);

  it('take the same steps each time a seed is run', async () => {
    expect(await simulate(7)).toEqual(await simulate(7));
  });

  it.each(ABLATIONS)(
    'break a rule without the %s [record §6: durable]',
    async (ablation) => {
      let found = 0;
      for (let seed = 1; seed <= 400 && found === 0; seed++)
        found = (await simulate(seed, ablation)).wrong.length;
      expect(found).toBeGreaterThan(0);
    },
    120_000,
  );
});
