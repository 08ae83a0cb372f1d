import { openHome } from '@stemma/home';
import { runPool, startPool, viewPool } from '@stemma/pools';

export type RoundsInput = {
  readonly directory: string;
  readonly rounds: number;
  /** Rounds of which each figure is. */
  readonly part: number;
};

/** The rounds of a part. */
export type MeasuredRounds = {
  /** The messages of the pool behind them. */
  readonly messages: number;
  readonly seconds: number;
  /** Milliseconds of the processor, of all threads. */
  readonly cpu: number;
};

const SEEDS = [
  'The sea keeps what it is given.',
  'Nobody counts the stones at night.',
  'A door that is open is not yet a way.',
  'We wrote our names in the sand, and the sea read them.',
  'Who samples the sampler?',
  'The night counts stones, one for every name.',
];

/** Runs a pool with the built-in mind, and measures part by part. */
export const runRounds = async ({
  directory,
  rounds,
  part,
}: RoundsInput): Promise<{ parts: MeasuredRounds[] }> => {
  const home = await openHome({ directory, create: true });
  await startPool(home, {
    id: 'start',
    name: 'sea',
    by: { actor: 'bench' },
    messages: SEEDS,
    settings: { seed: 7 },
  });
  const branchRef = await home.find('sea');
  const parts: MeasuredRounds[] = [];
  for (let done = 0; done < rounds; done += part) {
    const [began, before] = [performance.now(), process.cpuUsage()];
    const { ended } = await runPool(home, branchRef, { rounds: part, actor: 'bench' });
    if (ended !== 'rounds') throw new Error(`the run ended: ${ended}`);
    const seconds = (performance.now() - began) / 1000;
    const { user, system } = process.cpuUsage(before);
    const { messages } = await viewPool(home, branchRef);
    parts.push({
      messages: messages.length,
      seconds,
      cpu: (user + system) / 1000,
    });
  }
  await home.close();
  return { parts };
};
