import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { medianIfAny } from '../measure.ts';
import { probePeer } from '../peers/probe-peer.ts';
import { bytes, figure, type BenchmarkOptions, type Report } from '../table.ts';
import type { RecordedThread, ThreadInput } from './record.ts';

const KINDS = [
  { title: 'SqliteSaver, plain', saver: 'sqlite', channels: 'plain' },
  { title: 'StemmaSaver, plain', saver: 'stemma', channels: 'plain' },
  { title: 'SqliteSaver, delta 50', saver: 'sqlite', channels: 'delta' },
  { title: 'StemmaSaver, delta 50', saver: 'stemma', channels: 'delta' },
] as const;

/** What a thread of LangGraph costs with our saver, and with that of SQLite. */
export const savers = async (options: BenchmarkOptions): Promise<Report> => {
  const sizes = options.quick ? [20] : [100, 300];
  const found: { title: string; turns: number; rounds: RecordedThread[] }[] = [];
  for (const turns of sizes)
    for (const { title, saver, channels } of KINDS) {
      const rounds: RecordedThread[] = [];
      for (let round = 0; round < options.rounds; round += 1) {
        const directory = join(options.directory, `${saver}-${channels}-${turns}-${round}`);
        const input: ThreadInput = { directory, turns, reads: options.quick ? 5 : 30, saver, channels };
        const probed = await probePeer<RecordedThread>(title, 'savers/record', input);
        rounds.push(...probed.map(({ value }) => value));
        rmSync(directory, { recursive: true, force: true });
      }
      found.push({ title, turns, rounds });
    }
  const over = (rounds: readonly RecordedThread[], of: (round: RecordedThread) => number): number =>
    medianIfAny(rounds.map(of));
  return {
    name: 'savers',
    tables: [
      {
        title: 'Savers of LangGraph: one thread',
        columns: [
          '',
          'turns',
          'on disk',
          'ms a turn, median',
          'p99',
          'storing, ms',
          'processor, ms a turn',
          'old state, ms',
        ],
        rows: found.map(({ title, turns, rounds }) => [
          title,
          figure(turns),
          bytes(over(rounds, (round) => round.bytes)),
          figure(over(rounds, (round) => round.turn.median)),
          figure(over(rounds, (round) => round.turn.p99)),
          figure(over(rounds, (round) => round.storing.median)),
          figure(over(rounds, (round) => round.processor)),
          figure(over(rounds, (round) => round.old.median)),
        ]),
        notes: [
          'A turn is one `invoke` of a graph of one node with 2 messages of 1 KB. Storing: the time in `put` and `putWrites`, of which some run at the same time.',
          'SqliteSaver is a library in the process of the graph; StemmaSaver asks a gateway in another process over HTTP, and each of its answers is durable. The processor time is that of both processes. On disk: the file, and the whole home with its rows.',
          'Old states: `getState` at a checkpoint, drawn evenly from the whole thread, by a saver that is new, each read once, after as many others.',
        ],
      },
    ],
    aims: [],
    figures: { measured: found },
  };
};
