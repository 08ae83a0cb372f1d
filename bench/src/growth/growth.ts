import { join } from 'node:path';
import { rmSync } from 'node:fs';
import { medianIfAny } from '../measure.ts';
import { probePeer } from '../peers/probe-peer.ts';
import { probe } from '../probe.ts';
import type { Channels } from '../peers/langgraph.ts';
import { bytes, figure, times, type Aim, type BenchmarkOptions, type Report, type Table } from '../table.ts';
import { EARLIER, WARM_TURNS, type Growth, type GrowthInput, type TurnSpreads } from './figures.ts';

const growStemma = async (input: GrowthInput): Promise<readonly Growth[]> => {
  const fresh = await probe<Omit<Growth, keyof TurnSpreads>>('growth/new-home', input);
  const directory = `${input.directory}-running`;
  const running = await probe<TurnSpreads>('growth/running-home', { ...input, directory });
  rmSync(directory, { recursive: true });
  return [{ ...fresh.value, ...running.value }];
};

const growLangGraph =
  (channels: Channels) =>
  async (input: GrowthInput): Promise<readonly Growth[]> =>
    (await probePeer<Growth>(`LangGraph, ${channels}`, 'growth/langgraph', { ...input, channels })).map(
      ({ value }) => value,
    );

const systems = [
  { title: 'Stemma', slow: false, grow: growStemma },
  { title: 'LangGraph, plain', slow: true, grow: growLangGraph('plain') },
  { title: 'LangGraph, delta 50', slow: true, grow: growLangGraph('delta') },
] as const;
type Title = (typeof systems)[number]['title'];

/** Turns of the conversation that Stemma alone records. */
const LONG = 10_000;

type Measured = { readonly title: Title; readonly turns: number; readonly rounds: readonly Growth[] };

const measure = async (
  system: (typeof systems)[number],
  turns: number,
  options: BenchmarkOptions,
): Promise<Measured> => {
  const rounds: Growth[] = [];
  // What takes a minute is measured once, what takes a second more often.
  const count = system.slow && turns >= 1_000 ? 1 : options.rounds;
  for (let round = 0; round < count; round += 1) {
    const directory = join(options.directory, `${system.title.replaceAll(/\W+/g, '-')}-${turns}-${round}`);
    const input: GrowthInput = { directory, turns, reads: options.quick ? 5 : 30 };
    rounds.push(...(await system.grow(input)));
    rmSync(directory, { recursive: true, force: true });
  }
  return { title: system.title, turns, rounds };
};

/** The median over the rounds of what is taken from each. */
const over = (measured: Measured, of: (round: Growth) => number): number =>
  medianIfAny(measured.rounds.map(of));

const snapshot = (round: Growth): number => round.snapshot.median;
const space = (round: Growth): number => round.bytes;

const rows = (found: readonly Measured[]): readonly (readonly string[])[] =>
  found.map((one) => [
    one.title,
    figure(one.turns),
    bytes(over(one, space)),
    one.rounds[0]?.asked == null ? '' : bytes(over(one, (round) => round.asked!)),
    figure(over(one, (round) => round.turn.median)),
    figure(over(one, (round) => round.turn.p99)),
    `${figure(over(one, (round) => round.first.median))} → ${figure(over(one, (round) => round.last.median))}`,
    `${figure(over(one, (round) => round.first.p99))} → ${figure(over(one, (round) => round.last.p99))}`,
    one.rounds[0]?.inNewHome == null ? '' : figure(over(one, (round) => round.inNewHome!.median)),
    one.rounds[0]?.inNewHome == null ? '' : figure(over(one, (round) => round.inNewHome!.p99)),
    one.rounds[0]?.storing == null ? '' : figure(over(one, (round) => round.storing!.median)),
    figure(over(one, snapshot)),
    one.rounds[0]?.node == null ? '' : figure(over(one, (round) => round.node!.median * 1_000)),
    one.rounds[0]?.row == null ? '' : figure(over(one, (round) => round.row!.median * 1_000)),
  ]);

const ratios = (found: readonly Measured[]): readonly (readonly string[])[] =>
  found
    .filter(({ title }) => title !== 'Stemma')
    .map((peer) => {
      const own = found.find(({ title, turns }) => title === 'Stemma' && turns === peer.turns)!;
      const node = over(own, (round) => round.node!.median);
      return [
        peer.title,
        figure(peer.turns),
        times(over(peer, space) / over(own, space)),
        times(over(peer, (round) => round.turn.median) / over(own, (round) => round.turn.median)),
        times(over(peer, (round) => round.storing!.median) / over(own, (round) => round.turn.median)),
        times(over(peer, snapshot) / over(own, snapshot)),
        times(over(peer, snapshot) / node),
      ];
    });

const aimsAt = (found: readonly Measured[], most: number, least: number): readonly Aim[] => {
  const of = (title: Title, turns: number): Measured =>
    found.find((one) => one.title === title && one.turns === turns)!;
  const own = of('Stemma', most);
  const size = over(own, space);
  const asked = over(own, (round) => round.asked!);
  const growth = size / over(of('Stemma', least), space);
  const commits = found.filter(({ title, turns }) => title === 'Stemma' && turns >= most);
  const drift = over(own, (round) => round.last.median / round.first.median);
  // The faster of the two that we compare with.
  const state = Math.min(
    over(of('LangGraph, plain', most), snapshot),
    over(of('LangGraph, delta 50', most), snapshot),
  );
  const old = state / over(own, snapshot);
  const one = over(own, (round) => round.node!.median);
  const node = state / one;
  return [
    {
      what: 'log and rows, stages and causes asked for once',
      aim: '≤ 4.5 MB',
      measured: bytes(asked),
      met: asked <= 4.5e6,
    },
    {
      what: `bytes(${figure(most)}) / bytes(${least})`,
      aim: '≤ 10.5',
      measured: figure(growth),
      met: growth <= 10.5,
    },
    ...commits.flatMap((long): Aim[] => {
      const commit = over(long, (round) => round.turn.median);
      const slow = over(long, (round) => round.turn.p99);
      const what = `durable commit of ${figure(long.turns)} turns in a home that runs`;
      return [
        { what: `${what}, median`, aim: '≤ 0.7 ms', measured: `${figure(commit)} ms`, met: commit <= 0.7 },
        { what: `${what}, p99`, aim: '≤ 3 ms', measured: `${figure(slow)} ms`, met: slow <= 3 },
      ];
    }),
    {
      what: 'last tenth / first tenth of the commits',
      aim: '≤ 1.1',
      measured: figure(drift),
      met: drift <= 1.1,
    },
    {
      what: 'an old snapshot of 1,000 messages on average',
      aim: '≤ 2.5 ms',
      measured: `${figure(over(own, snapshot))} ms (${times(old)} faster than LangGraph)`,
      met: over(own, snapshot) <= 2.5,
    },
    {
      what: 'one node of it with its content',
      aim: '≤ 40 µs',
      measured: `${figure(one * 1_000)} µs (${times(node)} faster than LangGraph)`,
      met: one <= 0.04,
    },
  ];
};

/** What a growing conversation costs in space and time, and what looking back into it costs. */
export const growth = async (options: BenchmarkOptions): Promise<Report> => {
  const sizes = options.quick ? [20, 40] : [100, 300, 1_000];
  const found: Measured[] = [];
  for (const system of systems) {
    for (const turns of sizes) found.push(await measure(system, turns, options));
    // A state of LangGraph has every message, so that ten times the turns take it a hundred times as long.
    if (!system.slow && !options.quick) found.push(await measure(system, LONG, options));
  }
  const against: Table = {
    title: 'Growth: how many times more LangGraph takes',
    columns: ['', 'turns', 'space', 'a turn', 'storing alone', 'an old snapshot', 'one node of it'],
    rows: ratios(found),
    notes: [
      'storing alone: the time LangGraph spends in its checkpointer, against our whole turn.',
      'one node: LangGraph reads a whole state, since it has no smaller unit; we read the node with its content.',
    ],
  };
  const figures: Table = {
    title: 'Growth: figures',
    columns: [
      '',
      'turns',
      'on disk',
      'all asked for',
      'ms a turn, median',
      'p99',
      'median, first → last tenth',
      'p99, first → last tenth',
      'in a new home, median',
      'p99',
      'storing, ms',
      'old snapshot, ms',
      'one node, µs',
      'without content, µs',
    ],
    rows: rows(found),
    notes: [
      `LangGraph first records another conversation of ${WARM_TURNS} turns in another place, so that its code is compiled: more do not make it faster. A home of Stemma has recorded ${EARLIER.conversations} others of ${EARLIER.turns} turns before its turns are measured, as one that has been running.`,
      `In a new home: the same conversation in a home that is made for it, after ${WARM_TURNS} turns in another home of the same process. Its beginning is V8's compiling, above all in the thread that folds, which is new. Space is measured there, and what looking back costs.`,
      'A turn is 2 messages of 1 KB and one durable snapshot. On disk: allocated blocks after a clean close, log and all read models but stages and causes, whose rows are folded for a history that somebody asks about: all asked for.',
      `${options.rounds} rounds, of LangGraph one at the largest size; medians of the rounds.`,
      'Old snapshots: drawn evenly from the whole conversation, the same for all, each read once, after as many others.',
    ],
  };
  return {
    name: 'growth',
    tables: [against, figures],
    aims: aimsAt(found, sizes.at(-1)!, sizes[0]!),
    figures: { measured: found },
  };
};
