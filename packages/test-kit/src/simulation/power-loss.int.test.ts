import { openAppendJobs, type AppendJobs, type LogMachine } from '@stemma/log-embedded';
import { sealRecord } from '@stemma/log';
import { expect, it } from 'vitest';
import { NO_FAULTS } from './power.ts';
import { openSimulatedMachine, type SimulatedMachine } from './simulated-machine.ts';

const SEEDS = Array.from({ length: 12 }, (_, i) => i + 1);

/** A machine without faults whose log has a folder. */
const openMachine = (seed: number): SimulatedMachine => {
  const simulated = openSimulatedMachine(seed);
  simulated.calm();
  const { disk } = simulated.machineOf(simulated.startProcess());
  disk.makeFolder('/home/log');
  disk.sync(disk.open('/home', 'read'));
  return simulated;
};

const jobsOn = (
  simulated: SimulatedMachine,
  change: (machine: LogMachine) => LogMachine = (same) => same,
): AppendJobs => {
  const machine = change(simulated.machineOf(simulated.startProcess()));
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

const segment = (simulated: SimulatedMachine): Buffer => {
  const { disk } = simulated.machineOf(simulated.startProcess());
  const bytes = Buffer.alloc(10_000);
  disk.read(disk.open('/home/log/0/0000000000000000.seg', 'read'), bytes, 0, bytes.length, 0);
  return bytes;
};

/** The end that is found after a power loss. */
const endAfterPowerLoss = (simulated: SimulatedMachine): number => {
  simulated.losePower();
  const jobs = jobsOn(simulated);
  const opened = jobs.answer({ kind: 'open' });
  return opened.kind === 'opened' ? (simulated.lock.endIn(simulated.boot(), 0) ?? 0) : -1;
};

const endOf = (answer: ReturnType<AppendJobs['answer']>): number =>
  answer.kind === 'appended' ? (answer.nexts.at(-1) ?? 0) : NaN;

it.each(SEEDS)(
  'a folder whose creator was killed before syncing it survives a power loss with all records that others acknowledged in it: seed %i [record §6: durable]',
  (seed) => {
    const simulated = openMachine(seed);
    const killed = jobsOn(simulated, (machine) => ({
      ...machine,
      disk: {
        ...machine.disk,
        sync: () => {
          throw new Error('killed');
        },
      },
    }));
    expect(killed.answer({ kind: 'open' }).kind).toBe('failed');
    const jobs = jobsOn(simulated);
    jobs.answer({ kind: 'open' });
    const end = endOf(append(jobs, 'a'));
    expect(endAfterPowerLoss(simulated)).toBe(end);
  },
);

it.each(SEEDS)(
  'a record whose sync failed is durable before anything after it is acknowledged: seed %i [record §6: durable]',
  (seed) => {
    const simulated = openMachine(seed);
    const failing = jobsOn(simulated);
    failing.answer({ kind: 'open' });
    append(failing, 'a');
    simulated.disk.setFaults({ ...NO_FAULTS, syncFails: 1 });
    expect(append(failing, 'b').kind).toBe('fatal');
    simulated.disk.setFaults(NO_FAULTS);
    const jobs = jobsOn(simulated);
    jobs.answer({ kind: 'open' });
    const end = endOf(append(jobs, 'c'));
    const before = segment(simulated).subarray(0, end);
    expect(endAfterPowerLoss(simulated)).toBe(end);
    expect(segment(simulated).subarray(0, end)).toEqual(before);
  },
);
