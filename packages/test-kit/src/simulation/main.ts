import { parseArgs } from 'node:util';
import { simulate, type SimulationRun } from './simulate.ts';
import { ABLATIONS, type Ablation } from './simulated-machine.ts';

const USAGE =
  'pnpm simulate [--seeds N] [--from S] [--seed S] [--without sync|"folder sync"|"record hash"|"expected cursor"]';

/** `pnpm simulate`: runs many seeds, or one; prints what happened and what went wrong; exit 1 if anything did. */
const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      without: { type: 'string' },
    },
  });
  const without = ABLATIONS.find((each) => each === values.without);
  const from = Number(values.seed ?? values.from);
  const seeds = values.seed === undefined ? Number(values.seeds) : 1;
  if (
    !Number.isSafeInteger(from) ||
    !Number.isSafeInteger(seeds) ||
    (values.without ?? without) !== without
  ) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  return run(from, seeds, without);
};

const run = async (from: number, seeds: number, without: Ablation | undefined): Promise<number> => {
  const began = performance.now();
  const totals = new Map<string, number>();
  let [steps, failed] = [0, 0];
  for (let seed = from; seed < from + seeds; seed++) {
    const run = await simulate(seed, without);
    steps += run.steps;
    if (run.wrong.length > 0) {
      failed++;
      report(run);
    }
    for (const [what, count] of run.counts) totals.set(what, (totals.get(what) ?? 0) + count);
  }
  const seconds = (performance.now() - began) / 1000;
  process.stdout.write(
    `${seeds} seeds from ${from}, ${steps} steps, ${seconds.toFixed(1)} s: ${failed} went wrong\n`,
  );
  for (const [what, count] of [...totals].sort(([, a], [, b]) => b - a))
    process.stdout.write(`${String(count).padStart(9)}  ${what}\n`);
  return failed > 0 ? 1 : 0;
};

const report = ({ seed, wrong }: SimulationRun): void => {
  for (const sentence of wrong) process.stdout.write(`seed ${seed}: ${sentence}\n`);
};

process.exitCode = await main();
