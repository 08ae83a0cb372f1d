import { brokerLibs, missingTools, startBroker, type Broker } from '@stemma/test-kit';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { median } from '../measure.ts';
import { probePeer } from '../peers/probe-peer.ts';
import { probe } from '../probe.ts';
import { figure, type BenchmarkOptions, type Report, type Table } from '../table.ts';
import type { Consumed, Consumer, ConsumeInput } from './consume.ts';
import type { Produced, ProduceInput } from './produce.ts';
import type { WriteInput, Written } from './write.ts';
import type { WriteSinglesInput, WrittenSingles } from './write-singles.ts';

type Round = {
  readonly single: Written;
  readonly many: Written;
  readonly embedded: Written;
  readonly produced: Produced;
  readonly consumed: Readonly<Record<Consumer, number>>;
};

const EVENTS = 100;
/** Frames a send, and sends under way at once. */
const GROUP = 20;
const AHEAD = 4;
const ONE_BY_ONE = 'kafkajs, one event a record';
/** Frames that are consumed. */
const LONG_FRAMES = 4000;

const measureRound = async (
  brokers: readonly string[],
  directory: string,
  quick: boolean,
): Promise<Round> => {
  const prefix = `bench-${randomUUID()}`;
  const address = (name: string): string => `kafka://${brokers.join(',')}/${prefix}-${name}?partitions=1`;
  const write = async (name: string, input: Omit<WriteInput, 'directory'>): Promise<Written> =>
    (await probe<Written>('kafka/write', { directory: join(directory, name), ...input })).value;
  const commands = quick ? 200 : 3000;
  const ones = { commands, events: 1 };
  const single = await write('single', { ...ones, log: address('single'), ahead: 1, histories: 1 });
  const many = await write('many', { ...ones, log: address('many'), ahead: 64, histories: 8 });
  const embedded = await write('embedded', { ...ones, log: '', ahead: 64, histories: 8 });
  const frames = quick ? 50 : 1000;
  // So many that what each process does once decides little.
  const longFrames = quick ? 100 : LONG_FRAMES;
  const histories = 10;
  await write('frames', { commands: frames, events: EVENTS, log: address('frames'), ahead: 16, histories });
  const frameLog = { brokers, prefix: `${prefix}-frames`, events: EVENTS };
  const produce: ProduceInput = { ...frameLog, group: GROUP, ahead: AHEAD };
  const long = { commands: longFrames, events: EVENTS, ahead: 16, histories: 40 };
  await write('long', { ...long, log: address('long') });
  const longLog: WriteSinglesInput = { brokers, prefix: `${prefix}-long`, events: EVENTS };
  const singles = (await probe<WrittenSingles>('kafka/write-singles', longLog)).value.events;
  const consume = async (consumer: Consumer): Promise<number> => {
    const input: ConsumeInput = {
      brokers,
      prefix: longLog.prefix,
      events: longFrames * EVENTS,
      directory: join(directory, 'folded'),
      // LogOpened and the starts of the histories are records too.
      records: consumer === ONE_BY_ONE ? singles : longFrames + long.histories + 1,
      consumer,
    };
    const isPeer = consumer === 'kafkajs' || consumer === ONE_BY_ONE;
    const [found] = isPeer
      ? await probePeer<Consumed>(consumer, 'kafka/consume', input)
      : [await probe<Consumed>('kafka/consume', input)];
    return found?.value.perSecond ?? Number.NaN;
  };
  return {
    single,
    many,
    embedded,
    produced: (await probe<Produced>('kafka/produce', produce)).value,
    consumed: {
      kafkajs: await consume('kafkajs'),
      [ONE_BY_ONE]: await consume(ONE_BY_ONE),
      log: await consume('log'),
      home: await consume('home'),
    },
  };
};

const tableOf = (rounds: readonly Round[]): Table => {
  const over = (of: (round: Round) => number): number => median(rounds.map(of));
  const share = (of: (round: Round) => number, base?: (round: Round) => number): string =>
    base === undefined ? '' : `${figure(over((round) => of(round) / base(round)))} ×`;
  const events = (
    title: string,
    of: (round: Round) => number,
    bare?: (round: Round) => number,
    oneByOne?: (round: Round) => number,
  ): string[] => [title, figure(over(of)), share(of, bare), share(of, oneByOne), ''];
  const commands = (title: string, of: (round: Round) => Written): string[] => [
    title,
    figure(over((round) => of(round).commandsPerSecond)),
    '',
    '',
    figure(over((round) => of(round).latency.median)),
  ];
  return {
    title: 'Kafka: one broker on the same machine',
    columns: ['', 'a second', 'of kafkajs alone', 'of one event a record', 'ms, median'],
    rows: [
      events('produce, events: kafkajs alone, same frames, zstd', ({ produced }) => produced.bare),
      events(
        'produce, events: the log',
        ({ produced }) => produced.ours,
        ({ produced }) => produced.bare,
        ({ produced }) => produced.single,
      ),
      events('produce, events: kafkajs, one uncompressed event a record', ({ produced }) => produced.single),
      events('consume, events: kafkajs alone, counting', ({ consumed }) => consumed.kafkajs),
      events(
        'consume, events: kafkajs, one uncompressed event a record, counting',
        ({ consumed }) => consumed[ONE_BY_ONE],
      ),
      events(
        'consume, events: the log',
        ({ consumed }) => consumed.log,
        ({ consumed }) => consumed.kafkajs,
        ({ consumed }) => consumed[ONE_BY_ONE],
      ),
      events(
        'consume, events: into all rows',
        ({ consumed }) => consumed.home,
        ({ consumed }) => consumed.kafkajs,
        ({ consumed }) => consumed[ONE_BY_ONE],
      ),
      commands('commands of one event: one history, one at a time', ({ single }) => single),
      commands('commands of one event: 8 histories, 64 at once', ({ many }) => many),
      commands('the same on the embedded log', ({ embedded }) => embedded),
    ],
    notes: [
      `${rounds.length} rounds; medians. Frames of ${EVENTS} events, about 580 bytes each, ${GROUP} a send.`,
      `Each way of producing has ${AHEAD} sends under way, acknowledged by all replicas, after four passes that are not counted.`,
      `Consumed are ${figure(LONG_FRAMES * EVENTS)} events of 40 histories, each way in a process of its own that has done nothing before. The time of kafkajs is from connecting to the last message, with joining its group; ours from opening the log to the last record, or row. Neither has the loading of its code.`,
      'Commands go through a whole home: decided, recorded, answered, folded into all rows.',
    ],
  };
};

/** Events and commands a second through Kafka, beside kafkajs alone on the same frames in the same run. */
export const kafka = async (options: BenchmarkOptions): Promise<Report> => {
  const { directory, quick } = options;
  const given = process.env['KAFKA_BROKERS'] ?? '';
  const missing = missingTools();
  if (given === '' && missing !== undefined) throw new Error(missing);
  let broker: Broker | undefined;
  try {
    if (given === '')
      broker = await startBroker({ libs: await brokerLibs(), directory: join(directory, 'broker') });
    const brokers = broker === undefined ? given.split(',') : [broker.address];
    const rounds: Round[] = [];
    for (let round = 0; round < options.rounds; round++)
      rounds.push(await measureRound(brokers, join(directory, String(round)), quick));
    const share = (of: (round: Round) => number): number => median(rounds.map(of));
    const aim = (what: string, wanted: number, measured: number) => ({
      what,
      aim: `${wanted} ×`,
      measured: `${figure(measured)} ×`,
      met: measured >= wanted,
    });
    return {
      name: 'kafka',
      tables: [tableOf(rounds)],
      aims: [
        aim(
          'produce, of kafkajs alone',
          0.9,
          share(({ produced }) => produced.ours / produced.bare),
        ),
        aim(
          'consume with folding, of kafkajs alone',
          0.5,
          share(({ consumed }) => consumed.home / consumed.kafkajs),
        ),
        aim(
          'consume with folding, of one uncompressed event a record',
          0.5,
          share(({ consumed }) => consumed.home / consumed[ONE_BY_ONE]),
        ),
        aim(
          'produce, of one uncompressed event a record',
          7,
          share(({ produced }) => produced.ours / produced.single),
        ),
      ],
      figures: { rounds },
    };
  } finally {
    await broker?.stop('SIGKILL');
  }
};
