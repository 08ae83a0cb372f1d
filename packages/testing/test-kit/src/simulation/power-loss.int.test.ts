import { openAppendJobs, type AppendJobs, type LogMachine } from '@stemma/log-embedded';
import { sealRecord } from '@stemma/log';
import { expect, it } from 'vitest';
import { NO_FAULTS } from './power.ts';
import { Simulation } from './simulation.ts';

const SEEDS = Array.from({ length: 12 }, (_, i) => i + 1);

/** A machine without faults whose log has a folder. */
const openMachine = (seed: number): Simulation => {
  const simulation = new Simulation(seed);
  simulation.stopFaults();
  const { disk } = simulation.machineOf(simulation.startProcess());
  disk.makeFolder('/home/log');
  disk.sync(disk.open('/home', 'read'));
  return simulation;
};

const jobsOn = (
  simulation: Simulation,
  change: (machine: LogMachine) => LogMachine = (same) => same,
): AppendJobs => {
  const machine = change(simulation.machineOf(simulation.startProcess()));
  return openAppendJobs(machine, {
    directory: '/home/log',
    partitions: 1,
    segmentBytes: 10_000,
    stepBytes: 512,
    busyAfter: 10,
    failAtSync: null,
  });
};

const append = (jobs: AppendJobs, text: string): ReturnType<AppendJobs['answer']> => {
  const bytes = sealRecord(Buffer.from(text.repeat(300)));
  return jobs.answer({
    kind: 'append',
    group: { partitions: [0], keys: [text], lengths: [bytes.length], bytes },
  });
};

const segment = (simulation: Simulation): Buffer => {
  const { disk } = simulation.machineOf(simulation.startProcess());
  const bytes = Buffer.alloc(10_000);
  disk.read(disk.open('/home/log/0/0000000000000000.seg', 'read'), bytes, 0, bytes.length, 0);
  return bytes;
};

/** The end that is found after a power loss. */
const endAfterPowerLoss = (simulation: Simulation): number => {
  simulation.losePower();
  const jobs = jobsOn(simulation);
  const opened = jobs.answer({ kind: 'open' });
  return opened.kind === 'opened' ? (simulation.lock.endIn(simulation.boot(), 0) ?? 0) : -1;
};

const endOf = (answer: ReturnType<AppendJobs['answer']>): number =>
  answer.kind === 'appended' ? (answer.nexts.at(-1) ?? 0) : NaN;

it.each(SEEDS)(
  'a folder whose maker was killed before it was durable is there after a power loss, with what others acknowledged in it: seed %i',
  { tags: ['record§6:durable'] },
  (seed) => {
    const simulation = openMachine(seed);
    const killed = jobsOn(simulation, (machine) => ({
      ...machine,
      disk: {
        ...machine.disk,
        sync: () => {
          throw new Error('killed');
        },
      },
    }));
    expect(killed.answer({ kind: 'open' }).kind).toBe('failed');
    const jobs = jobsOn(simulation);
    jobs.answer({ kind: 'open' });
    const end = endOf(append(jobs, 'a'));
    expect(endAfterPowerLoss(simulation)).toBe(end);
  },
);

it.each(SEEDS)(
  'a record whose sync failed is durable before anything after it is acknowledged: seed %i',
  { tags: ['record§6:durable'] },
  (seed) => {
    const simulation = openMachine(seed);
    const failing = jobsOn(simulation);
    failing.answer({ kind: 'open' });
    append(failing, 'a');
    simulation.disk.setFaults({ ...NO_FAULTS, syncFails: 1 });
    expect(append(failing, 'b').kind).toBe('fatal');
    simulation.disk.setFaults(NO_FAULTS);
    const jobs = jobsOn(simulation);
    jobs.answer({ kind: 'open' });
    const end = endOf(append(jobs, 'c'));
    const before = segment(simulation).subarray(0, end);
    expect(endAfterPowerLoss(simulation)).toBe(end);
    expect(segment(simulation).subarray(0, end)).toEqual(before);
  },
);
