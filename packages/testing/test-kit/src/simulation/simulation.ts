import { openMemoryContents, type MemoryContents } from '@stemma/contents';
import type { LogMachine } from '@stemma/log-embedded';
import { endsWithItsHash, openAppendJobs, type AppendThread } from '@stemma/log-embedded';
import { fail, StemmaError } from '@stemma/errors';
import type { Memory } from '@stemma/row-store';
import { nanosecondsOf } from '@stemma/values';
import { Killed, NO_FAULTS, openDice, type Dice, type DiskFaults } from './power.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { openSimulatedLock, type SimulatedLock } from './simulated-lock.ts';

/** Which safeguard is left out: each must make the simulation fail. */
export type Ablation = 'sync' | 'folder sync' | 'record hash' | 'expected cursor';
export const ABLATIONS: readonly Ablation[] = ['sync', 'folder sync', 'record hash', 'expected cursor'];

/** What differs between runs. */
export type Conditions = {
  readonly processes: number;
  readonly partitions: number;
  readonly segmentBytes: number;
  readonly stepBytes: number;
  readonly disk: DiskFaults;
  /** After about how many steps a process is killed; Infinity: never. */
  readonly killedAfter: number;
  /** How often it is a power loss instead. */
  readonly powerLosses: number;
};

/** A simulated process, until it is killed or ends. */
export type Process = {
  readonly id: number;
  alive: boolean;
  /** After how many more steps something ends it. */
  stepsLeft: number;
};

/** Offsets of a partition between which parts of unacknowledged records may be missing. */
export type Hole = { readonly partition: number; readonly from: number; readonly to: number };

type Task = { readonly owner: Process | null; readonly at: number; readonly run: () => void };

/** A machine with a disk, a lock and rows, a clock that moves when nothing else can, and processes that take turns. */
export type Simulation = {
  readonly dice: Dice;
  readonly conditions: Conditions;
  readonly ablation: Ablation | undefined;
  readonly disk: SimulatedDisk;
  readonly lock: SimulatedLock;
  readonly rows: Memory;
  readonly contents: MemoryContents;
  readonly counts: Map<string, number>;
  readonly wrong: string[];
  readonly holes: readonly Hole[];
  readonly boot: () => string;
  readonly now: () => number;
  readonly steps: () => number;
  readonly count: (what: string) => void;
  readonly startProcess: () => Process;
  readonly end: (process: Process) => void;
  readonly losePower: () => void;
  readonly machineOf: (process: Process) => LogMachine;
  /** Resolves when it is the process's turn, at the earliest after so many milliseconds; never if it was killed. */
  readonly turn: (process: Process | null, milliseconds?: number) => Promise<void>;
  /** From now on nothing fails and nobody is killed. */
  readonly stopFaults: () => void;
  /** Takes turns until `done` is settled, for so many steps at most. @throws a sentence if it is not by then */
  readonly runUntil: (done: Promise<unknown>, budget: number) => Promise<void>;
  /** Told of every step, while nobody is killed in it. */
  watch: (() => void) | undefined;
};

export const openSimulation = (seed: number, ablation?: Ablation): Simulation => {
  const dice = openDice(seed);
  const conditions = conditionsOf(dice);
  const disk = new SimulatedDisk(
    dice,
    () => noteHoles(),
    ablation === 'sync' || ablation === 'folder sync' ? ablation : undefined,
  );
  disk.setFaults(conditions.disk);
  const lock = openSimulatedLock(dice);
  const rows: Memory = { generations: new Map(), pointers: new Map() };
  const processes = new Map<number, Process>();
  const counts = new Map<string, number>();
  const holes: Hole[] = [];
  let tasks: Task[] = [];
  let [now, boots, started, steps] = [0, 1, 0, 0];
  let areFaultsOver = false;

  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const boot = (): string => `boot ${boots}`;
  const end = (process: Process): void => {
    process.alive = false;
    processes.delete(process.id);
    tasks = tasks.filter(({ owner }) => owner !== process);
  };
  /** What lies behind the noted end was never acknowledged, and may now be lost in parts. */
  const noteHoles = (): void => {
    for (let partition = 0; partition < conditions.partitions; partition++) {
      const from = lock.endIn(boot(), partition);
      if (from !== undefined) holes.push({ partition, from, to: disk.extent(`/home/log/${partition}`) });
    }
  };
  const losePower = (): void => {
    for (const process of [...processes.values()]) end(process);
    disk.losePower();
    lock.losePower();
    // Rows are either as they were or, as nobody synced them, found to be of another boot and thrown away.
    if (dice.chance(0.5)) {
      rows.generations.clear();
      rows.pointers.clear();
    }
    boots++;
    count('power losses');
  };
  const step = (process: Process, writing = false): void => {
    steps++;
    if (!process.alive) throw new Killed('killed before');
    simulation.watch?.();
    if (areFaultsOver) return;
    // Half a record is what recovery is for.
    if (writing && conditions.killedAfter !== Infinity && dice.chance(0.06)) process.stepsLeft = 1;
    if (--process.stepsLeft > 0) return;
    if (dice.chance(conditions.powerLosses)) losePower();
    else {
      end(process);
      count('kills');
    }
    throw new Killed('killed');
  };
  const turn = (owner: Process | null, milliseconds = 0): Promise<void> =>
    new Promise((resolve) => {
      if (owner?.alive === false) return;
      tasks.push({
        owner,
        at: now + milliseconds,
        run: () => {
          try {
            if (owner === null) steps++;
            else step(owner);
            resolve();
          } catch (error) {
            if (!(error instanceof Killed)) throw error;
          }
        },
      });
    });
  const machineOf = (process: Process): LogMachine =>
    simulatedMachine(simulation, process, (writing) => step(process, writing), processes);

  const simulation: Simulation = {
    dice,
    conditions,
    ablation,
    disk,
    lock,
    rows,
    contents: openMemoryContents(),
    counts,
    wrong: [],
    holes,
    boot,
    now: () => now,
    steps: () => steps,
    count,
    startProcess: () => {
      const stepsLeft =
        conditions.killedAfter === Infinity ? Infinity : 1 + dice.int(2 * conditions.killedAfter);
      const process = { id: ++started, alive: true, stepsLeft };
      processes.set(process.id, process);
      return process;
    },
    end,
    losePower,
    machineOf,
    turn,
    stopFaults: () => {
      areFaultsOver = true;
      disk.setFaults(NO_FAULTS);
    },
    runUntil: async (done, budget) => {
      let settled = false;
      const mark = (): void => void (settled = true);
      void done.then(mark, mark);
      await settle();
      while (!settled) {
        if (steps > budget) throw new Error('it does not end');
        const ready = tasks.filter(({ at }) => at <= now);
        if (ready.length === 0) {
          if (tasks.length === 0) throw new Error('nobody has anything to do, and it has not ended');
          now = Math.min(...tasks.map(({ at }) => at));
          continue;
        }
        const task = dice.pick(ready);
        tasks.splice(tasks.indexOf(task), 1);
        task.run();
        await settle();
      }
    },
    watch: undefined,
  };
  return simulation;
};

/** Resolves when all that can go on without a turn has gone on. */
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const conditionsOf = (dice: Dice): Conditions => {
  const often = (chance: number, of: number): number => (dice.chance(chance) ? dice.roll() * of : 0);
  return {
    processes: 1 + dice.int(3),
    partitions: 1 + dice.int(2),
    segmentBytes: dice.pick([1500, 4000, 20_000]),
    stepBytes: dice.pick([512, 2048]),
    disk: {
      syncFails: often(0.3, 0.1),
      callFails: often(0.3, 0.02),
      short: often(0.5, 0.2),
      full: often(0.3, 0.1),
    },
    killedAfter: dice.chance(0.8) ? 60 + dice.int(600) : Infinity,
    powerLosses: dice.pick([0, 0, 0.3, 1]),
  };
};

const simulatedMachine = (
  simulation: Simulation,
  process: Process,
  step: (writing?: boolean) => void,
  processes: ReadonlyMap<number, Process>,
): LogMachine => {
  const { dice, lock } = simulation;
  const boot = simulation.boot();
  let pausedFor = 0;
  const machine: LogMachine = {
    disk: simulation.disk.seenBy(step),
    isWhole: simulation.ablation === 'record hash' ? () => true : endsWithItsHash,
    boot: () => boot,
    enterLock: () => lock.enter(boot, step),
    openLock: () => lock.open(boot, step),
    enterLockBeside: () => lock.enter(boot, step),
    isShared: () => processes.size > 1,
    nextTurn: () => simulation.turn(process),
    self: () => ({ pid: process.id, began: boot }),
    isAlive: ({ pid, began }) => began === simulation.boot() && processes.has(pid),
    now: () => simulation.now() + pausedFor,
    pause: (milliseconds) => {
      step();
      pausedFor += milliseconds;
    },
    startThread: (options, onFatal) => simulatedThread(simulation, process, machine, options, onFatal),
    clock: () => nanosecondsOf(Math.floor(simulation.now())) + 1n,
    newId: () => `00000000-0000-4000-8000-${String(dice.int(1e12)).padStart(12, '0')}`,
    every: (milliseconds, fn) => {
      let over = false;
      const again = async (): Promise<void> => {
        for (;;) {
          await simulation.turn(process, milliseconds);
          if (over) return;
          fn();
        }
      };
      void again();
      return () => {
        over = true;
      };
    },
  };
  return machine;
};

/** The appending thread: the same jobs, each in a turn of its own. */
const simulatedThread = (
  simulation: Simulation,
  process: Process,
  machine: LogMachine,
  options: Parameters<LogMachine['startThread']>[0],
  onFatal: (message: string) => void,
): AppendThread => {
  let jobs: ReturnType<typeof openAppendJobs> | undefined;
  return {
    ask: async (job) => {
      await simulation.turn(process);
      try {
        jobs ??= openAppendJobs(machine, options);
      } catch (error) {
        throw fail('E_IO', `the log cannot be opened for writing: ${String(error)}`);
      }
      const answer = jobs.answer(job);
      // Killed in the middle of it: nobody hears the answer.
      if (!process.alive) await new Promise(() => undefined);
      await simulation.turn(process);
      if (answer.kind === 'failed')
        throw new StemmaError(answer.failure.code, answer.failure.message, answer.failure.detail);
      if (answer.kind !== 'fatal') return answer;
      onFatal(answer.message);
      return new Promise(() => undefined);
    },
    end: async () => undefined,
  };
};
