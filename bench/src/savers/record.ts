import { StemmaSaver } from '@stemma/langgraph';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lookedAt, said } from '../growth/conversation.ts';
import { onDisk, type GrowthInput } from '../growth/figures.ts';
import { openProcesses } from '../gateway/processes.ts';
import { spread, timed, type Spread } from '../measure.ts';
import {
  openConversation,
  openLangGraph,
  openSqliteSaver,
  type Channels,
  type Conversation,
} from '../peers/langgraph.ts';

export type ThreadInput = GrowthInput & { readonly saver: 'stemma' | 'sqlite'; readonly channels: Channels };

/** What a thread came to. Times in milliseconds. */
export type RecordedThread = {
  readonly bytes: number;
  readonly turn: Spread;
  readonly storing: Spread;
  /** Of the processor, a turn, in the graph's process and in the gateway. */
  readonly processor: number;
  readonly old: Spread;
};

type Opened = {
  readonly open: () => Conversation;
  readonly spent: () => number;
  readonly end: () => Promise<void>;
};

/** A thread of one conversation with one saver; its old states are read by a saver that is new. */
export const recordThread = async (input: ThreadInput): Promise<RecordedThread> => {
  const { directory, turns, reads } = input;
  mkdirSync(directory, { recursive: true });
  const { open, spent, end } = input.saver === 'sqlite' ? openSqlite(input) : await openGateway(input);
  const took: number[] = [];
  const storing: number[] = [];
  const checkpoints: string[] = [];
  const writing = open();
  const before = spent();
  for (let turn = 1; turn <= turns; turn += 1) {
    const { question, answer } = said(turn);
    took.push((await timed(() => writing.turn(question, answer))).ms);
    storing.push(writing.saving());
    checkpoints.push(writing.newest());
  }
  const processor = (spent() - before) / turns;
  writing.close();
  const reading = open();
  const old: number[] = [];
  for (const [i, turn] of lookedAt(turns, 2 * reads).entries()) {
    const { ms, value } = await timed(() => reading.read(checkpoints[turn - 1]!));
    if (value.length !== 2 * turn) throw new Error(`turn ${turn} gave ${value.length} messages`);
    if (i >= reads) old.push(ms);
  }
  reading.close();
  await end();
  return {
    bytes: onDisk(directory),
    turn: spread(took),
    storing: spread(storing),
    processor,
    old: spread(old),
  };
};

const ownProcessor = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

const openSqlite = ({ directory, channels }: ThreadInput): Opened => ({
  open: () => openLangGraph(join(directory, 'checkpoints.db'), channels),
  spent: ownProcessor,
  end: async () => {},
});

const openGateway = async ({ directory, channels }: ThreadInput): Promise<Opened> => {
  const processes = openProcesses();
  const env = { STEMMA_HOME: directory, STEMMA_PORT: '0', STEMMA_LOG: '', STEMMA_ROWS: '' };
  const url = await processes.start('gateway', [], env, /Stemma is at (\S+)/);
  // The graph is a peer's, with classes of its own: so is what turns them to bytes.
  const { serde, db } = openSqliteSaver(':memory:');
  const options = serde === undefined ? {} : { serde: serde as NonNullable<StemmaSaver['serde']> };
  return {
    open: () => openConversation(new StemmaSaver({ url, ...options }) as never, channels, () => {}),
    spent: () => ownProcessor() + processorOf(processes.pid()),
    end: async () => {
      db.close();
      await processes.end();
    },
  };
};

/** Milliseconds of the processor that a process spent so far (Linux). */
const processorOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return ticks * 10;
};
