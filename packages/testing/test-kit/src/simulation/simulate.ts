import { acknowledgedEnd, commandsOf, isDone, runProcess, type SentCommand } from './clients.ts';
import { checkOutcome } from './check-outcome.ts';
import { openIn } from './opened.ts';
import { Simulation, type Ablation } from './simulation.ts';

/** The result of one simulated run. */
export type SimulatedRun = {
  readonly seed: number;
  /** What went against the rules, in sentences; empty if nothing did. */
  readonly wrong: readonly string[];
  readonly steps: number;
  /** How often what happened: faults, kills, answers, codes of errors. */
  readonly counts: ReadonlyMap<string, number>;
};

const MAX_STEPS = 60_000;
/** After so many steps nothing fails any more, so that every run ends. */
const FAULTS_END_AFTER = 12_000;

/**
 * One random run of a home: processes with a writer, a projector and readers each on one simulated machine, whose disk
 * fails, whose processes are killed between any two steps, and which loses its power. The same in every run of a seed.
 */
export const simulate = async (seed: number, ablation?: Ablation): Promise<SimulatedRun> => {
  const simulation = new Simulation(seed, ablation);
  const sent = commandsOf(simulation);
  try {
    await simulation.runUntil(runAndCheck(simulation, sent), MAX_STEPS);
  } catch (error) {
    simulation.wrong.push(error instanceof Error ? error.message : String(error));
  }
  return {
    seed,
    wrong: [...new Set(simulation.wrong)],
    steps: simulation.steps(),
    counts: new Map([...simulation.counts, ...simulation.disk.happened]),
  };
};

const runAndCheck = async (simulation: Simulation, sent: readonly SentCommand[]): Promise<void> => {
  simulation.watch = () => {
    for (let partition = 0; partition < simulation.conditions.partitions; partition++) {
      const end = simulation.lock.endIn(simulation.boot(), partition);
      if (end !== undefined && end < acknowledgedEnd(sent, partition))
        simulation.wrong.push('the end lies before an acknowledged record');
    }
    if (simulation.steps() > FAULTS_END_AFTER) simulation.stopFaults();
  };
  const slots = Array.from({ length: simulation.conditions.processes }, () => runProcesses(simulation, sent));
  await Promise.all(slots);
  simulation.stopFaults();
  // What was acknowledged last is there after one more power loss.
  if (simulation.dice.chance(0.5)) simulation.losePower();
  const checker = simulation.startProcess();
  const opened = await openIn(simulation, checker);
  await checkOutcome(simulation, opened, sent);
};

/** One process after the other, until every command has its answer. */
const runProcesses = async (simulation: Simulation, sent: readonly SentCommand[]): Promise<void> => {
  while (!sent.every((each) => isDone(each) || each.after?.refused !== undefined)) {
    const process = simulation.startProcess();
    const state = { ended: false };
    const running = runProcess(simulation, process, sent).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : 'no error';
      if (process.alive) simulation.wrong.push(`a process ended with ${why}`);
    });
    void running.then(() => (state.ended = true));
    while (process.alive && !state.ended) await simulation.turn(null, 5);
    if (process.alive) simulation.end(process);
    await simulation.turn(null, simulation.dice.int(20));
  }
};
