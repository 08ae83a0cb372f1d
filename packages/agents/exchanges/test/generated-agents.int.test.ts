import { openHome, type Home } from '@stemma/home';
import { sized } from '@stemma/test-kit';
import fc from 'fast-check';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { faultsOf, Recording, work } from './agents-at-work.ts';
import { chanceOf, type World } from './generated-agents.ts';

let directory: string;
let home: Home;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-generated-'));
  home = await openHome({ directory, create: true });
});
afterAll(async () => {
  await home.close();
  rmSync(directory, { recursive: true });
});

/** Milliseconds; only what hangs takes longer. */
const TIMEOUT = 3_600_000;

/** Always the same runs, and more with `STEMMA_RUNS=1000`. */
const RUNS = {
  seed: 20260101,
  numRuns: Number(process.env['STEMMA_RUNS'] ?? sized(12, 32)),
  endOnFailure: true,
};

let runs = 0;
test(
  'calls of agents are placed where the agents made them, whatever they do, and in whichever order they are noted',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 - 1 }), async (seed) => {
        const world: World = { run: `run-${++runs}`, chance: chanceOf(seed), next: 0 };
        const recording = new Recording(home, { run: world.run });
        const calls = await work(world, recording, async () => {
          await home.close();
          home = await openHome({ directory });
          return home;
        });
        expect({ seed, faults: await faultsOf(calls, recording) }).toEqual({ seed, faults: [] });
      }),
      RUNS,
    );
  },
  TIMEOUT,
);
