import { acknowledgedEnd, commandsOf, isDone, runProcess, type Sent } from './clients.ts';
import { checkOutcome } from './check-outcome.ts';
import { openIn } from './opened.ts';
import { openSimulatedMachine, type Ablation, type SimulatedMachine } from './simulated-machine.ts';

/** The outcome of one run. */
export type SimulationRun = {
  readonly seed: number;
  /** The broken rules, in sentences; empty if none was broken. */
  readonly wrong: readonly string[];
  readonly steps: number;
  /** How often each of these happened: faults, kills, answers, codes of errors. */
  readonly counts: ReadonlyMap<string, number>;
};

const MAX_STEPS = 60_000;
/** After so many steps nothing fails any more, so that every run ends. */
const CALM_AFTER = 12_000;

/**
 * One random run of a home: processes with a writer, a projector and readers each on one simulated machine, whose disk
 * fails, whose processes are killed between any two steps, and which loses its power. A seed gives the same run every time.
 */
export const simulate = async (seed: number, ablation?: Ablation): Promise<SimulationRun> => {
  const simulated = openSimulatedMachine(seed, ablation);
  const sent = commandsOf(simulated);
  try {
    await simulated.runUntil(runAndCheck(simulated, sent), MAX_STEPS);
  } catch (error) {
    simulated.wrong.push(error instanceof Error ? error.message : String(error));
  }
  return {
    seed,
    wrong: [...new Set(simulated.wrong)],
    steps: simulated.steps(),
    counts: new Map([...simulated.counts, ...simulated.disk.happened]),
  };
};

const runAndCheck = async (simulated: SimulatedMachine, sent: readonly Sent[]): Promise<void> => {
  simulated.watch = () => {
    for (let partition = 0; partition < simulated.conditions.partitions; partition++) {
      const end = simulated.lock.endIn(simulated.boot(), partition);
      if (end !== undefined && end < acknowledgedEnd(sent, partition))
        simulated.wrong.push('the end lies before an acknowledged record');
    }
    if (simulated.steps() > CALM_AFTER) simulated.calm();
  };
  const slots = Array.from({ length: simulated.conditions.processes }, () => runProcesses(simulated, sent));
  await Promise.all(slots);
  simulated.calm();
  // What was acknowledged last is there after one more power loss.
  if (simulated.dice.chance(0.5)) simulated.losePower();
  const checking = simulated.startProcess();
  const opened = await openIn(simulated, checking);
  await checkOutcome(simulated, opened, sent);
};

/** One process after the other, until every command has its answer. */
const runProcesses = async (simulated: SimulatedMachine, sent: readonly Sent[]): Promise<void> => {
  while (!sent.every((each) => isDone(each) || each.after?.refused !== undefined)) {
    const process = simulated.startProcess();
    const run = { ended: false };
    const running = runProcess(simulated, process, sent).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : 'no error';
      if (process.alive) simulated.wrong.push(`a process ended with ${why}`);
    });
    void running.then(() => (run.ended = true));
    while (process.alive && !run.ended) await simulated.turn(null, 5);
    if (process.alive) simulated.end(process);
    await simulated.turn(null, simulated.dice.int(20));
  }
};
