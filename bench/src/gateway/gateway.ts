import { historyId } from '@stemma/history';
import { brokerLibs, freshDatabase, missingTools, startBroker, startPostgres } from '@stemma/test-kit';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel, median, spread, timed, type Spread } from '../measure.ts';
import { figure, type Aim, type BenchmarkOptions, type Report, type Table } from '../table.ts';
import { openClient, type Client } from './client.ts';
import {
  measureNewConversations,
  newConversationsAims,
  newConversationsTable,
  type NewConversations,
} from './new-conversations.ts';
import { openProcesses } from './processes.ts';

/** Commands a second: the first ones of a gateway that has just started, and later `many` at once; and one at a time. */
type Measured = {
  readonly first: number;
  readonly many: number;
  readonly half: Spread;
  readonly single: number;
  /** Milliseconds of a question right after each acknowledged command of an idle system. */
  readonly read: Spread;
};
type System = { readonly title: string; readonly env: NodeJS.ProcessEnv; readonly apart: boolean };

const EMBEDDED = 'embedded log, rows in the directory';
const APART = 'Kafka, PostgreSQL, projector apart';
const HISTORIES = 8;
const AT_ONCE = 64;
/** How many times the first commands are sent again before a running gateway is measured, and how many times to measure it. */
const WARM_UP = 3;
const MEASURED = 4;

/** A command of one block to a branch by its branch id. */
const send = ({ post }: Client, history: number, id: string): Promise<void> => {
  const to = `${historyId(`agent-${history}`, '')}:0`;
  const node = { nodeType: 'cb', role: 'assistant', kind: 'text', content: `What was said in ${id}` };
  const steps = [{ op: 'insert', parent: '^ah', node }];
  return post(`/api/histories/${to}/commands`, { id, recorder: 'bench', steps });
};

const measure = async (url: string, commands: number): Promise<Measured> => {
  const withClient = async <T>(connections: number, act: (client: Client) => Promise<T>): Promise<T> => {
    const client = await openClient(url, connections);
    try {
      return await act(client);
    } finally {
      client.close();
    }
  };
  await withClient(1, async ({ post }) => {
    for (let history = 0; history < HISTORIES; history++)
      await post('/api/histories', { id: `start:${history}`, recorder: 'bench', name: `agent-${history}` });
  });
  const run = (name: string, ahead: number, histories: number, count: number): Promise<number> =>
    withClient(ahead, async (client) => {
      const { ms } = await timed(() =>
        inParallel(count, ahead, (n) => send(client, n % histories, `${name}${n}`)),
      );
      return (count * 1000) / ms;
    });
  /** Sent when it is their time, whether or not those before have been answered: waiting counts. */
  const paced = (perSecond: number): Promise<readonly number[]> =>
    withClient(AT_ONCE, (client) => {
      const began = performance.now();
      return Promise.all(
        Array.from({ length: commands }, async (_, n) => {
          const due = began + (n * 1000) / perSecond;
          await sleep(Math.max(0, due - performance.now()));
          await send(client, n % HISTORIES, `half${n}`);
          return performance.now() - due;
        }),
      );
    });
  const first = await run('first', AT_ONCE, HISTORIES, commands);
  await run('warm', AT_ONCE, HISTORIES, WARM_UP * commands);
  const many = await run('many', AT_ONCE, HISTORIES, MEASURED * commands);
  const half = spread(await paced(many / 2));
  const single = await run('single', 1, 1, Math.ceil(commands / 8));
  const read = spread(
    await withClient(1, async (client) => {
      const took: number[] = [];
      for (let n = 0; n < Math.ceil(commands / 8); n++) {
        await send(client, n % HISTORIES, `read${n}`);
        const { ms } = await timed(() => client.get(`/api/histories/agent-${n % HISTORIES}/branches`));
        took.push(ms);
      }
      return took;
    }),
  );
  return { first, many, half, single, read };
};

const measureSystem = async (
  { env, apart }: System,
  directory: string,
  commands: number,
): Promise<Measured> => {
  const processes = openProcesses();
  try {
    const all = { STEMMA_HOME: directory, STEMMA_PORT: '0', STEMMA_LOG: '', STEMMA_ROWS: '', ...env };
    const url = await processes.start('gateway', [], all, /Stemma is at (\S+)/);
    if (apart) await processes.start('projector', [], all, /(projecting)/);
    return await measure(url, commands);
  } finally {
    await processes.end();
  }
};

const aimsAt = (measured: ReadonlyMap<string, readonly Measured[]>): readonly Aim[] => {
  const aim = (title: string, what: string, least: number, of: (one: Measured) => number): Aim[] => {
    const all = measured.get(title);
    if (all === undefined) return [];
    const found = median(all.map(of));
    const most = least < 0;
    return [
      {
        what: `${title}: ${what}`,
        aim: `${most ? '≤' : '≥'} ${figure(Math.abs(least))}`,
        measured: figure(found),
        met: most ? found <= -least : found >= least,
      },
    ];
  };
  return [
    ...aim(EMBEDDED, 'commands a second', 5_000, ({ many }) => many),
    ...aim(EMBEDDED, 'p99 at half of it, ms', -40, ({ half }) => half.p99),
    ...aim(APART, 'commands a second', 1_500, ({ many }) => many),
    ...aim(APART, 'one at a time, a second', 100, ({ single }) => single),
    ...aim(APART, 'a read after a write, ms, median', -60, ({ read }) => read.median),
    ...aim(APART, 'a read after a write, ms, p99', -150, ({ read }) => read.p99),
  ];
};

/** A log on Kafka and a database, each for one system. */
type Places = { readonly kafka: string; readonly rows: string };
type OpenPlaces = { readonly open: () => Promise<Places & AsyncDisposable> } & AsyncDisposable;

/** The systems by the names that `--only` knows. */
const systemsIn = ({ kafka, rows }: Places): Readonly<Record<string, System>> => ({
  embedded: { title: EMBEDDED, env: {}, apart: false },
  kafka: { title: 'Kafka, rows of its own', env: { STEMMA_LOG: kafka }, apart: false },
  apart: { title: APART, env: { STEMMA_LOG: kafka, STEMMA_ROWS: rows }, apart: true },
});

/** Where no system needs them, neither a broker nor a database is started. */
const NO_PLACES: OpenPlaces = {
  open: async () => ({ kafka: '', rows: '', [Symbol.asyncDispose]: async () => undefined }),
  [Symbol.asyncDispose]: async () => undefined,
};

const startPlaces = async (directory: string): Promise<OpenPlaces> => {
  const missing = missingTools();
  if (missing !== undefined) throw new Error(missing);
  const postgres = await startPostgres({ settings: { fsync: 'on', full_page_writes: 'on' } });
  const broker = await startBroker({ libs: await brokerLibs(), directory: join(directory, 'broker') });
  return {
    open: async () => {
      const database = await freshDatabase(postgres.url);
      const kafka = `kafka://${broker.address}/bench-${randomUUID()}?partitions=6`;
      return { kafka, rows: database.url, [Symbol.asyncDispose]: () => database.drop() };
    },
    [Symbol.asyncDispose]: async () => {
      await broker.stop('SIGKILL');
      await postgres.remove();
    },
  };
};

/** The rows that `--only` knows beside those of the systems. */
const CONVERSATIONS = 'conversations';

/** How many new conversations are recorded; of many, in one round. */
const sizesOf = (quick: boolean): readonly { readonly count: number; readonly rounds: number }[] =>
  quick
    ? [{ count: 100, rounds: 1 }]
    : [
        { count: 5_000, rounds: Infinity },
        { count: 50_000, rounds: 1 },
      ];

const measureConversations = async ({
  directory,
  quick,
  rounds,
}: BenchmarkOptions): Promise<ReadonlyMap<number, readonly NewConversations[]>> => {
  const measured = new Map<number, NewConversations[]>();
  for (const { count, rounds: most } of sizesOf(quick)) {
    const all: NewConversations[] = [];
    for (let round = 0; round < Math.min(rounds, most); round++)
      all.push(await measureNewConversations(join(directory, `${round}-conversations-${count}`), count));
    measured.set(count, all);
  }
  return measured;
};

/** Commands a second over HTTP: gateway, log and rows, as one process and apart; and new conversations through its proxy. */
export const gateway = async (options: BenchmarkOptions): Promise<Report> => {
  const { directory, quick, rounds, only } = options;
  const names = Object.keys(systemsIn({ kafka: '', rows: '' })).filter((name) => (only ?? name) === name);
  const withConversations = (only ?? CONVERSATIONS) === CONVERSATIONS;
  if (names.length === 0 && !withConversations)
    throw new Error(`the gateway's tables have no row ${only ?? ''}`);
  const commands = quick ? 200 : 5000;
  const measured = new Map<string, Measured[]>();
  {
    await using places = names.every((name) => name === 'embedded')
      ? NO_PLACES
      : await startPlaces(directory);
    for (let round = 0; round < rounds; round++)
      for (const name of names) {
        await using place = await places.open();
        const system = systemsIn(place)[name] as System;
        const figures = await measureSystem(system, join(directory, `${round}-${name}`), commands);
        measured.set(system.title, [...(measured.get(system.title) ?? []), figures]);
      }
  }
  const conversations = withConversations ? await measureConversations(options) : new Map();
  return {
    name: 'gateway',
    tables: [
      ...(measured.size === 0 ? [] : [commandsTable(measured, rounds, commands)]),
      ...(conversations.size === 0 ? [] : [newConversationsTable(conversations)]),
    ],
    aims: [...aimsAt(measured), ...newConversationsAims(conversations)],
    figures: { ...Object.fromEntries(measured), conversations: Object.fromEntries(conversations) },
  };
};

const commandsTable = (
  measured: ReadonlyMap<string, readonly Measured[]>,
  rounds: number,
  commands: number,
): Table => ({
  title: 'Commands over HTTP: gateway, log, rows',
  columns: [
    '',
    '64 at once, a second',
    'at half of it: ms, median',
    'p99',
    'one at a time, a second',
    'just started: 64 at once, a second',
    'a read after a write: ms, median',
    'p99',
  ],
  rows: [...measured].map(([title, all]) => [
    title,
    ...[
      median(all.map(({ many }) => many)),
      median(all.map(({ half }) => half.median)),
      median(all.map(({ half }) => half.p99)),
      median(all.map(({ single }) => single)),
      median(all.map(({ first }) => first)),
      median(all.map(({ read }) => read.median)),
      median(all.map(({ read }) => read.p99)),
    ].map(figure),
  ]),
  notes: [
    `${rounds} rounds; medians. Each command is one block; 64 at once go to ${HISTORIES} histories, one at a time to one.`,
    `Every gateway has answered ${(1 + WARM_UP) * commands} commands before the ${MEASURED * commands} that are measured; at half of that rate ${commands} are sent.`,
    `Just started: the first ${commands} commands of each.`,
    'A read after a write: a command, then a question about its history, the answer of which has what the command wrote; one after another.',
    'Who sends, the gateway, the broker, the database and the projector share the machine.',
  ],
});
