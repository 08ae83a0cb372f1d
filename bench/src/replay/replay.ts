import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { medianIfAny } from '../measure.ts';
import { probePeer } from '../peers/probe-peer.ts';
import type { WriteInput, Written } from '../kafka/write.ts';
import { probe, type Probed } from '../probe.ts';
import { bytes, figure, times, type Aim, type BenchmarkOptions, type Report, type Table } from '../table.ts';
import { generated, type Sessions } from './generate.ts';
import type { Replayed } from './rebuild.ts';

/** A log of this many events, made once and kept in the scratch folder. */
export const prepared = async (
  scratch: string,
  events: number,
): Promise<Sessions & { readonly directory: string }> => {
  const directory = join(scratch, `sessions-${events}`);
  const found = generated(directory);
  if (found !== null) return { ...found, directory };
  process.stderr.write(`bench: recording ${figure(events)} events, once …\n`);
  mkdirSync(directory, { recursive: true });
  const { value } = await probe<Sessions>('replay/generate', { directory, events });
  return { ...value, directory };
};

type Measured = {
  readonly title: string;
  readonly events: number;
  readonly rounds: readonly Probed<Replayed>[];
};

const rate = (measured: Measured): number =>
  medianIfAny(measured.rounds.map(({ value }) => value.events / value.seconds));
const peak = (measured: Measured): number => medianIfAny(measured.rounds.map((round) => round.peak));
const own = (measured: Measured): number =>
  medianIfAny(measured.rounds.map((round) => round.own ?? Number.NaN));

const measure = async (
  title: string,
  name: string,
  input: (round: number) => object,
  rounds: number,
): Promise<Measured> => {
  const found: Probed<Replayed>[] = [];
  for (let round = 0; round < rounds; round += 1) found.push(await probe<Replayed>(name, input(round)));
  return { title, events: found[0]!.value.events, rounds: found };
};

/** The same of emmett; without rounds if it fails. */
const measureEmmett = async (
  title: string,
  input: (round: number) => object,
  rounds: number,
): Promise<Measured> => {
  const found: Probed<Replayed>[] = [];
  for (let round = 0; round < rounds; round += 1)
    found.push(...(await probePeer<Replayed>(title, 'replay/emmett', input(round))));
  return { title, events: found[0]?.value.events ?? 0, rounds: found };
};

/** Trees of more nodes than a projector keeps in memory: histories whose frames alternate, and nodes that each has in the end. */
const WIDE = { histories: 10, nodes: 20_000, events: 100 };

const recordWide = async (directory: string, quick: boolean): Promise<void> => {
  const { histories, nodes, events } = WIDE;
  const commands = (histories * (quick ? nodes / 100 : nodes)) / events;
  const input: WriteInput = {
    directory: join(directory, 'home'),
    log: '',
    commands,
    events,
    histories,
    ahead: 16,
  };
  await probe<Written>('kafka/write', input);
};

const OURS = 'Stemma: all read models, from the first record';
const DECODING = 'check and decode alone';

/** What was measured, and on what. */
type Rounds = {
  readonly small: Sessions;
  readonly large: Sessions;
  readonly workers: number;
  readonly decodingSmall: Measured;
  readonly decoding: Measured;
  /** Without rows. */
  readonly core: Measured;
  readonly rebuiltSmall: Measured;
  readonly rebuilt: Measured;
  readonly serial: Measured;
  readonly onDemand: Measured;
  readonly wideTrees: Measured;
  readonly emmett: Measured;
  /** Emmett with as many rows as ours. */
  readonly sameRows: Measured;
  readonly emmettEvents: number;
};

const measureAll = async (options: BenchmarkOptions, few: number, many: number): Promise<Rounds> => {
  const scratch = dirname(options.directory);
  const { rounds } = options;
  const small = await prepared(scratch, few);
  const large = await prepared(scratch, many);
  const emmettEvents = options.quick ? 1_000 : 50_000;
  // As a home does.
  const workers = availableParallelism();
  const decodingSmall = await measure(DECODING, 'replay/decode', () => small, 1);
  const core = await measure(
    'decode, apply to trees and compare every recorded hash, no rows',
    'replay/core',
    () => ({ ...large, threads: workers }),
    rounds,
  );
  const rebuiltSmall = await measure(OURS, 'replay/rebuild', () => ({ ...small, workers }), 1);
  const decoding = await measure(DECODING, 'replay/decode', () => large, rounds);
  const rebuilt = await measure(OURS, 'replay/rebuild', () => ({ ...large, workers }), rounds);
  const serial = await measure('Stemma: the same in one thread', 'replay/rebuild', () => large, rounds);
  const onDemand = await measure(
    'Stemma: as a home rebuilds its rows, those on demand when somebody asks',
    'replay/rebuild',
    () => ({ ...large, workers, onDemand: true }),
    rounds,
  );
  const wide = join(options.directory, 'wide');
  await recordWide(wide, options.quick);
  const wideTrees = await measure(
    `Stemma: as a home, ${WIDE.histories} histories of ${figure(WIDE.nodes)} living nodes, their frames alternate`,
    'replay/rebuild',
    () => ({ directory: wide, workers, onDemand: true }),
    rounds,
  );
  const beside = (rows: 'small' | 'same') => (round: number) => ({
    log: small.directory,
    directory: join(options.directory, `emmett-${rows}-${round}`),
    events: emmettEvents,
    rows,
  });
  const emmett = await measureEmmett('emmett + SQLite: one row an event', beside('small'), rounds);
  const sameRows = await measureEmmett('emmett + SQLite: as many rows as ours', beside('same'), rounds);
  return {
    ...{ small, large, workers, decodingSmall, decoding, core, rebuiltSmall, rebuilt, serial, onDemand },
    ...{ wideTrees, emmett, sameRows, emmettEvents },
  };
};

/** In the order of the table. */
const listOf = (all: Rounds): readonly Measured[] => [
  all.decodingSmall,
  all.decoding,
  all.core,
  all.rebuiltSmall,
  all.rebuilt,
  all.serial,
  all.onDemand,
  all.wideTrees,
  all.emmett,
  all.sameRows,
];

const tableOf = (all: Rounds, rounds: number): Table => ({
  title: 'Replay: rebuilding all read models',
  columns: [
    '',
    'against emmett, small',
    'against emmett, same rows',
    'events/s',
    'events',
    'own memory, peak',
    'resident, peak',
  ],
  rows: listOf(all).map((one) => [
    one.title,
    times(rate(one) / rate(all.emmett)),
    times(rate(one) / rate(all.sameRows)),
    figure(rate(one)),
    figure(one.events),
    bytes(own(one)),
    bytes(peak(one)),
  ]),
  notes: [
    `${figure(all.large.events)} events in ${figure(all.large.frames)} frames of ${figure(all.large.histories)} sessions of an agent with tools; medians of ${rounds} rounds, each in a process of its own.`,
    `The histories whose frames alternate have more nodes than memory has room for: frames of ${WIDE.events} insertions, which are less work an event.`,
    'own memory: heap and buffers (RssAnon). Resident counts the pages of mapped files too, which grow with the rows and are given back when the system needs them.',
    `emmett rebuilds ${figure(all.emmettEvents)} of the same events; its rate does not rise with more. Contents stay in its events, as in ours, where it writes our rows.`,
  ],
});

const aimsOf = (
  { core, rebuilt, rebuiltSmall, emmett, sameRows, workers }: Rounds,
  few: number,
  many: number,
): readonly Aim[] => {
  const ratio = rate(rebuilt) / rate(emmett);
  const equal = rate(rebuilt) / rate(sameRows);
  const growth = own(rebuilt) / own(rebuiltSmall);
  return [
    {
      what: `trees and hashes alone in ${workers} threads, events/s`,
      aim: '≥ 100,000',
      measured: figure(rate(core)),
      met: rate(core) >= 100_000,
    },
    {
      what: 'replay with all read models, events/s',
      aim: '≥ 50,000',
      measured: figure(rate(rebuilt)),
      met: rate(rebuilt) >= 50_000,
    },
    {
      what: 'the same against emmett with one row an event',
      aim: '≥ 17 ×',
      measured: times(ratio),
      met: ratio >= 17,
    },
    {
      what: 'the same against emmett with our rows',
      aim: '≥ 17 ×',
      measured: times(equal),
      met: equal >= 17,
    },
    {
      what: `own memory with ${figure(many)} events`,
      aim: '≤ 512 MB',
      measured: bytes(own(rebuilt)),
      met: own(rebuilt) <= 512e6,
    },
    {
      what: `own memory, ${figure(many)} events / ${figure(few)}`,
      aim: '≤ 1.25 (flat)',
      measured: figure(growth),
      met: growth <= 1.25,
    },
  ];
};

/** How fast all read models are rebuilt from the log, and what memory it takes. */
export const replay = async (options: BenchmarkOptions): Promise<Report> => {
  const [few, many] = options.quick ? [2_000, 8_000] : [250_000, 1_000_000];
  const all = await measureAll(options, few, many);
  return {
    name: 'replay',
    tables: [tableOf(all, options.rounds)],
    aims: aimsOf(all, few, many),
    figures: {
      sessions: all.large,
      measured: listOf(all),
    },
  };
};
