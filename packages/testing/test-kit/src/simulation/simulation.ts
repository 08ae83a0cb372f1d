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
export class Simulation {
  readonly dice: Dice;
  readonly conditions: Conditions;
  readonly ablation: Ablation | undefined;
  readonly disk: SimulatedDisk;
  readonly lock: SimulatedLock;
  readonly rows: Memory = { generations: new Map(), pointers: new Map() };
  readonly contents: MemoryContents = openMemoryContents();
  readonly counts = new Map<string, number>();
  readonly wrong: string[] = [];
  readonly holes: Hole[] = [];
  /** Called at every step, while nobody is killed in it. */
  watch: (() => void) | undefined;
  readonly #processes = new Map<number, Process>();
  #tasks: Task[] = [];
  #now = 0;
  #boots = 1;
  #started = 0;
  #steps = 0;
  #areFaultsOver = false;

  constructor(seed: number, ablation?: Ablation) {
    this.dice = openDice(seed);
    this.conditions = conditionsOf(this.dice);
    this.ablation = ablation;
    this.disk = new SimulatedDisk(
      this.dice,
      () => this.#noteHoles(),
      ablation === 'sync' || ablation === 'folder sync' ? ablation : undefined,
    );
    this.disk.setFaults(this.conditions.disk);
    this.lock = openSimulatedLock(this.dice);
  }

  boot(): string {
    return `boot ${this.#boots}`;
  }

  now(): number {
    return this.#now;
  }

  steps(): number {
    return this.#steps;
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  startProcess(): Process {
    const { dice, conditions } = this;
    const stepsLeft =
      conditions.killedAfter === Infinity ? Infinity : 1 + dice.int(2 * conditions.killedAfter);
    const process = { id: ++this.#started, alive: true, stepsLeft };
    this.#processes.set(process.id, process);
    return process;
  }

  end(process: Process): void {
    process.alive = false;
    this.#processes.delete(process.id);
    this.#tasks = this.#tasks.filter(({ owner }) => owner !== process);
  }

  losePower(): void {
    for (const process of [...this.#processes.values()]) this.end(process);
    this.disk.losePower();
    this.lock.losePower();
    // Rows are either as they were or, as nobody synced them, found to be of another boot and thrown away.
    if (this.dice.chance(0.5)) {
      this.rows.generations.clear();
      this.rows.pointers.clear();
    }
    this.#boots++;
    this.count('power losses');
  }

  machineOf(process: Process): LogMachine {
    return simulatedMachine(this, process, (writing) => this.#step(process, writing), this.#processes);
  }

  /** Resolves when it is the process's turn, at the earliest after so many milliseconds; never if it was killed. */
  turn(owner: Process | null, milliseconds = 0): Promise<void> {
    return new Promise((resolve) => {
      if (owner?.alive === false) return;
      this.#tasks.push({
        owner,
        at: this.#now + milliseconds,
        run: () => {
          try {
            if (owner === null) this.#steps++;
            else this.#step(owner);
            resolve();
          } catch (error) {
            if (!(error instanceof Killed)) throw error;
          }
        },
      });
    });
  }

  /** From now on nothing fails and nobody is killed. */
  stopFaults(): void {
    this.#areFaultsOver = true;
    this.disk.setFaults(NO_FAULTS);
  }

  /** Takes turns until `done` is settled, for so many steps at most. @throws a sentence if it is not by then */
  async runUntil(done: Promise<unknown>, budget: number): Promise<void> {
    let settled = false;
    const mark = (): void => void (settled = true);
    void done.then(mark, mark);
    await settle();
    while (!settled) {
      if (this.#steps > budget) throw new Error('it does not end');
      const ready = this.#tasks.filter(({ at }) => at <= this.#now);
      if (ready.length === 0) {
        if (this.#tasks.length === 0) throw new Error('nobody has anything to do, and it has not ended');
        this.#now = Math.min(...this.#tasks.map(({ at }) => at));
        continue;
      }
      const task = this.dice.pick(ready);
      this.#tasks.splice(this.#tasks.indexOf(task), 1);
      task.run();
      await settle();
    }
  }

  /** What lies after the noted end was never acknowledged, and may now be lost in parts. */
  #noteHoles(): void {
    for (let partition = 0; partition < this.conditions.partitions; partition++) {
      const from = this.lock.endIn(this.boot(), partition);
      if (from !== undefined)
        this.holes.push({ partition, from, to: this.disk.extent(`/home/log/${partition}`) });
    }
  }

  #step(process: Process, writing = false): void {
    const { dice, conditions } = this;
    this.#steps++;
    if (!process.alive) throw new Killed('killed before');
    this.watch?.();
    if (this.#areFaultsOver) return;
    // Half a record is what recovery is for.
    if (writing && conditions.killedAfter !== Infinity && dice.chance(0.06)) process.stepsLeft = 1;
    if (--process.stepsLeft > 0) return;
    if (dice.chance(conditions.powerLosses)) this.losePower();
    else {
      this.end(process);
      this.count('kills');
    }
    throw new Killed('killed');
  }
}

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
