import { historyId, type Command } from '@stemma/history';
import { openHome } from '@stemma/home';
import { inParallel, spread, timed, type Spread } from '../measure.ts';
import { prose, seeded } from '../text.ts';

export type WriteInput = {
  readonly directory: string;
  /** The log's address; empty: the embedded log in the directory. */
  readonly log: string;
  readonly commands: number;
  /** Events of a command. */
  readonly events: number;
  /** Commands under way at once, and the histories they go to. */
  readonly ahead: number;
  readonly histories: number;
};

export type Written = { readonly commandsPerSecond: number; readonly latency: Spread };

const command = (history: number, id: string, steps: Command['steps']): Command => ({
  id,
  history: historyId(`agent-${history}`, `start:${history}`),
  branchId: 0,
  by: { recorder: 'bench' },
  steps,
});

/** Commands on a whole Stemma: decided, recorded, answered, and folded into all rows in the same process meanwhile. */
export const writeKafka = async (input: WriteInput): Promise<Written> => {
  const { directory, log, commands, events, ahead, histories } = input;
  const home = await openHome({ directory, create: true, ...(log === '' ? {} : { log }) });
  const contents = Array.from({ length: 500 }, (_, number) => prose(seeded(number), 400));
  for (let history = 0; history < histories; history++)
    await home.submit(command(history, `start:${history}`, [{ op: 'start', name: `agent-${history}` }]));
  const steps = (n: number): Command['steps'] =>
    Array.from({ length: events }, (_, i) => ({
      op: 'insert',
      parent: '^ah',
      node: { nodeType: 'cb', role: 'assistant', kind: 'text', content: contents[(n * events + i) % 500]! },
    }));
  const latencies: number[] = [];
  const { ms } = await timed(() =>
    inParallel(commands, ahead, async (n) => {
      latencies.push((await timed(() => home.submit(command(n % histories, `c${n}`, steps(n))))).ms);
    }),
  );
  await home.close();
  return { commandsPerSecond: (commands * 1000) / ms, latency: spread(latencies) };
};
