import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Growth, GrowthInput } from '../growth/figures.ts';
import { median } from '../measure.ts';
import { probePeer } from '../peers/probe-peer.ts';
import { probe } from '../probe.ts';
import { bytes, figure, times, type Aim, type BenchmarkOptions, type Report } from '../table.ts';
import { placingAims, placingTable, type PlacedAmong } from './placing-table.ts';
import type { PlacedCalls } from './placing.ts';
import type { ReadRequest, RecordedConversation } from './record-conversation.ts';

/** What recorded calls take on the disk, byte for byte, and what reading one of them takes. */
export const calls = async (options: BenchmarkOptions): Promise<Report> => {
  const turns = options.quick ? 40 : 1_000;
  const directory = join(options.directory, 'calls');
  const record = async (form: 'json' | 'streamed', to: string): Promise<RecordedConversation> =>
    (await probe<RecordedConversation>('calls/record', { directory: to, turns, form })).value;
  const own = await record('json', directory);
  const streams = join(options.directory, 'streams');
  const streamed = await record('streamed', streams);
  rmSync(streams, { recursive: true, force: true });
  const reads: { readonly turn: number; readonly rounds: readonly ReadRequest[] }[] = [];
  for (const turn of [1, Math.ceil(turns / 2), turns - 1, turns]) {
    const rounds: ReadRequest[] = [];
    for (let round = 0; round < options.rounds; round += 1)
      rounds.push((await probe<ReadRequest>('calls/read', { directory, turn, turns })).value);
    reads.push({ turn, rounds });
  }
  rmSync(directory, { recursive: true, force: true });
  const peers: { readonly title: string; readonly bytes: number }[] = [];
  for (const channels of ['plain', 'delta'] as const) {
    const input: GrowthInput = { directory: join(options.directory, channels), turns, reads: 1 };
    const title = `LangGraph, ${channels}: messages only`;
    const found = await probePeer<Growth>(title, 'growth/langgraph', { ...input, channels });
    rmSync(input.directory, { recursive: true, force: true });
    for (const { value } of found) peers.push({ title, bytes: value.bytes });
  }
  const placed = await place(options);
  const over = (rounds: readonly ReadRequest[], of: (one: ReadRequest) => number): number =>
    median(rounds.map(of));
  const slowest = (of: (one: ReadRequest) => number): number =>
    Math.max(...reads.map(({ rounds }) => over(rounds, of)));
  const reading = (what: string, of: (one: ReadRequest) => number): Aim => {
    const ms = slowest(of);
    return { what, aim: '≤ 10 ms', measured: `${figure(ms)} ms`, met: ms <= 10 };
  };
  const systems = [
    { title: 'Stemma: every byte, threads and rows', bytes: own.bytes },
    { title: 'the same, the answers streamed', bytes: streamed.bytes },
    { title: 'the bodies in files, one each', bytes: own.raw },
    { title: 'the same, the answers streamed', bytes: streamed.raw },
    ...peers,
  ];
  return {
    name: 'calls',
    tables: [
      {
        title: 'Calls: space',
        columns: ['', 'calls', 'on disk', 'of Stemma'],
        rows: systems.map((one) => [
          one.title,
          figure(turns),
          bytes(one.bytes),
          times(one.bytes / own.bytes),
        ]),
        notes: [
          'Each call sends the whole conversation again, and brings 2 messages of 1 KB. A streamed answer has an event for each word or so.',
          'LangGraph keeps messages at its checkpoints, and no bytes of requests.',
        ],
      },
      {
        title: 'Calls: the bytes of one request',
        columns: ['call', 'size', 'cold, ms', 'first time, ms', 'again, ms'],
        rows: reads.map(({ turn, rounds }) => [
          figure(turn),
          bytes(over(rounds, ({ size }) => size)),
          figure(over(rounds, ({ cold }) => cold)),
          figure(over(rounds, ({ opened }) => opened)),
          figure(over(rounds, ({ again }) => again)),
        ]),
        notes: [
          `Cold: the first thing that a process reads after it opened the home, while the engine still compiles what it runs. ${options.rounds} processes each, medians.`,
          'First time: by a process that has read 40 others, and has opened the home anew, so that nothing of it is in memory. Again: the least of five.',
        ],
      },
      placingTable(placed),
    ],
    aims: [
      { what: 'disk of the calls', aim: '≤ 8 MB', measured: bytes(own.bytes), met: own.bytes <= 8e6 },
      {
        what: 'disk of the calls, streamed',
        aim: '≤ 8 MB',
        measured: bytes(streamed.bytes),
        met: streamed.bytes <= 8e6,
      },
      reading('one request, the first time, by a process that runs', ({ opened }) => opened),
      reading('one request, cold', ({ cold }) => cold),
      ...placingAims(placed),
    ],
    figures: { own, streamed, reads, peers, placed },
  };
};

/** Finds the places of calls among few and many conversations. */
const place = async ({ directory, quick, rounds }: BenchmarkOptions): Promise<readonly PlacedAmong[]> => {
  const placed: PlacedAmong[] = [];
  for (const conversations of quick ? [20, 200] : [500, 5_000, 10_000]) {
    const taken: PlacedCalls[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const input = { directory: join(directory, 'places'), conversations };
      taken.push((await probe<PlacedCalls>('calls/placing', input)).value);
      rmSync(input.directory, { recursive: true, force: true });
    }
    placed.push({ conversations, rounds: taken });
  }
  return placed;
};
