import { parseArgs } from 'node:util';
import { simulate, type SimulatedRun } from './simulate.ts';
import { ROWS_ABLATIONS, type RowsAblation } from './rows-life.ts';
import { simulateRows } from './simulate-rows.ts';
import { ABLATIONS, type Ablation } from './simulation.ts';

const USAGE =
  'pnpm simulate [--seeds N] [--from S] [--seed S] [--without sync|"folder sync"|"record hash"|"expected cursor"|"rows sync"|"rows state"]';

/** `pnpm simulate`: runs of many seeds, or of one; prints what happened and which rules were broken; exit 1 if any was. */
const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      without: { type: 'string' },
    },
  });
  const without = [...ABLATIONS, ...ROWS_ABLATIONS].find((each) => each === values.without);
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

/** A run of the log and one of the rows; only the one in which something is left out, if anything is. */
const both = async (seed: number, without: Ablation | RowsAblation | undefined): Promise<SimulatedRun> => {
  const ofRows = ROWS_ABLATIONS.find((each) => each === without);
  const ofLog = ABLATIONS.find((each) => each === without);
  const log = ofRows === undefined ? await simulate(seed, ofLog) : undefined;
  const rows = ofLog === undefined ? await simulateRows(seed, ofRows) : undefined;
  return {
    seed,
    steps: (log?.steps ?? 0) + (rows?.steps ?? 0),
    wrong: [...(log?.wrong ?? []), ...(rows?.wrong ?? [])],
    counts: new Map([...(log?.counts ?? []), ...(rows?.counts ?? [])]),
  };
};

const run = async (
  from: number,
  seeds: number,
  without: Ablation | RowsAblation | undefined,
): Promise<number> => {
  const began = performance.now();
  const totals = new Map<string, number>();
  let [steps, failed] = [0, 0];
  for (let seed = from; seed < from + seeds; seed++) {
    const result = await both(seed, without);
    steps += result.steps;
    if (result.wrong.length > 0) {
      failed++;
      report(result);
    }
    for (const [what, count] of result.counts) totals.set(what, (totals.get(what) ?? 0) + count);
    if ((seed - from) % 500 === 499) process.stderr.write(`… ${seed - from + 1} of ${seeds}\n`);
  }
  const seconds = (performance.now() - began) / 1000;
  process.stdout.write(
    `${seeds} seeds from ${from}, ${steps} steps, ${seconds.toFixed(1)} s: ${failed} went wrong\n`,
  );
  for (const [what, count] of [...totals].sort(([, a], [, b]) => b - a))
    process.stdout.write(`${String(count).padStart(9)}  ${what}\n`);
  return failed > 0 ? 1 : 0;
};

const report = ({ seed, wrong }: SimulatedRun): void => {
  for (const sentence of wrong) process.stdout.write(`seed ${seed}: ${sentence}\n`);
};

// Who reads the start only, such as `head`, has what was asked for.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(process.exitCode ?? 0);
});
process.exitCode = await main();
