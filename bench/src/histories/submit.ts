import { historyId, type Step } from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import { inParallel, median, timed } from '../measure.ts';
import { prose, seeded } from '../text.ts';

export type HistoriesInput = {
  readonly directory: string;
  /** How many histories are there, and written to in turn. */
  readonly histories: number;
  /** Turns that each of them has before it is measured. */
  readonly turns: number;
  readonly commands: number;
};

export type HistoriesMeasured = {
  /** Commands a second, all of them acknowledged. */
  readonly perSecond: number;
  /** Milliseconds of processor time of the whole process for one of them. */
  readonly cpu: number;
  /** Milliseconds for a list of the newest 1,000 snapshots of a branch, and of 1,000 histories; null where there are fewer. */
  readonly listed: { readonly snapshots: number; readonly histories: number } | null;
};

/** Commands that are under way at once. */
export const AT_ONCE = 64;

const contents = Array.from({ length: 1_000 }, (_, number) => prose(seeded(number), 400));
const content = (number: number): string => contents[number % contents.length]!;

/** A turn: a question, an answer, and a snapshot of both. */
const turn = (number: number): Step[] => [
  ...(['user', 'assistant'] as const).map((role, index): Step => ({
    op: 'insert',
    parent: '^ah',
    node: { nodeType: 'cb', role, kind: 'text', content: content(2 * number + index) },
  })),
  { op: 'commit' },
];

/** Turns are recorded in many histories, one history after the other, so that each was not written to the longest. */
export const submitToHistories = async (input: HistoriesInput): Promise<HistoriesMeasured> => {
  const home = await openHome({ directory: input.directory, create: true });
  const by = { recorder: 'bench' };
  const submit = (number: number, id: string, steps: Step[]): Promise<unknown> => {
    const name = `agent-${number % input.histories}`;
    return home.submit({ id, history: historyId(name, ''), branchId: 0, by, steps });
  };
  await inParallel(input.histories, AT_ONCE, (number) =>
    submit(number, `start-${number}`, [{ op: 'start', name: `agent-${number}` }]),
  );
  const before = input.histories * input.turns;
  await inParallel(before, AT_ONCE, (number) => submit(number, `turn-${number}`, turn(number)));
  await home.read.histories();
  const cpu = process.cpuUsage();
  const { ms } = await timed(() =>
    inParallel(input.commands, AT_ONCE, (number) =>
      submit(number, `turn-${before + number}`, turn(before + number)),
    ),
  );
  const { user, system } = process.cpuUsage(cpu);
  const listed = await lists(home, input);
  await home.close();
  return { perSecond: (input.commands * 1_000) / ms, cpu: (user + system) / 1_000 / input.commands, listed };
};

const LISTED = 1_000;

const lists = async (home: Home, input: HistoriesInput): Promise<HistoriesMeasured['listed']> => {
  if (input.histories < LISTED) return null;
  const by = { recorder: 'bench' };
  const history = historyId('long', '');
  await home.submit({ id: 'long', history, branchId: 0, by, steps: [{ op: 'start', name: 'long' }] });
  for (let number = 0; number < LISTED; number++)
    await home.submit({ id: `long-${number}`, history, branchId: 0, by, steps: turn(number) });
  const branch = await home.find('long');
  return {
    snapshots: await typical(async () => (await home.read.snapshots(branch, { limit: LISTED })).length),
    histories: await typical(async () => (await home.read.listHistories({ limit: LISTED })).histories.length),
  };
};

/** The median of some times, warm. @throws an Error if there are fewer than are wanted */
const typical = async (list: () => Promise<number>): Promise<number> => {
  const times: number[] = [];
  for (let round = 0; round < 30; round++) {
    const { ms, value } = await timed(list);
    times.push(ms);
    if (value !== LISTED) throw new Error(`a list of ${value}`);
  }
  return median(times.slice(10));
};
