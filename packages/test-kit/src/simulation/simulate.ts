import { acknowledgedEnd, commandsOf, isDone, live, type Sent } from './clients.ts';
import { judge } from './judge.ts';
import { openIn } from './opened.ts';
import { openWorld, type Ablation, type World } from './world.ts';

/** What came of one life. */
export type Life = {
  readonly seed: number;
  /** What went against the rules, in sentences; empty if nothing did. */
  readonly wrong: readonly string[];
  readonly steps: number;
  /** How often what happened: faults, kills, answers, codes of errors. */
  readonly counts: ReadonlyMap<string, number>;
};

const MAX_STEPS = 60_000;
/** After so many steps nothing fails any more, so that every life comes to its end. */
const CALM_AFTER = 12_000;

/**
 * One random life of a home: processes with a writer, a projector and readers each on one simulated machine, whose disk
 * fails, whose processes are killed between any two steps, and which loses its power. The same in every run of a seed.
 */
export const simulate = async (seed: number, ablation?: Ablation): Promise<Life> => {
  const world = openWorld(seed, ablation);
  const sent = commandsOf(world);
  try {
    await world.runUntil(liveAndJudge(world, sent), MAX_STEPS);
  } catch (error) {
    world.wrong.push(error instanceof Error ? error.message : String(error));
  }
  return {
    seed,
    wrong: [...new Set(world.wrong)],
    steps: world.steps(),
    counts: new Map([...world.counts, ...world.disk.happened]),
  };
};

const liveAndJudge = async (world: World, sent: readonly Sent[]): Promise<void> => {
  world.watch = () => {
    for (let partition = 0; partition < world.conditions.partitions; partition++) {
      const end = world.lock.endIn(world.boot(), partition);
      if (end !== undefined && end < acknowledgedEnd(sent, partition))
        world.wrong.push('the end lies before an acknowledged record');
    }
    if (world.steps() > CALM_AFTER) world.calm();
  };
  const slots = Array.from({ length: world.conditions.processes }, () => lives(world, sent));
  await Promise.all(slots);
  world.calm();
  // What was acknowledged last is there after one more power loss.
  if (world.dice.chance(0.5)) world.losePower();
  const judgeItself = world.startProcess();
  const opened = await openIn(world, judgeItself);
  await judge(world, opened, sent);
};

/** One process after the other, until every command has its answer. */
const lives = async (world: World, sent: readonly Sent[]): Promise<void> => {
  while (!sent.every((each) => isDone(each) || each.after?.refused !== undefined)) {
    const process = world.startProcess();
    const life = { ended: false };
    const living = live(world, process, sent).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : 'no error';
      if (process.alive) world.wrong.push(`a process ended with ${why}`);
    });
    void living.then(() => (life.ended = true));
    while (process.alive && !life.ended) await world.turn(null, 5);
    if (process.alive) world.end(process);
    await world.turn(null, world.dice.int(20));
  }
};
