import {
  checkOperations,
  countAnomalies,
  missingTools,
  NO_ANOMALIES,
  postgresFolder,
} from '@stemma/test-kit';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../run-stemma.ts';
import { stemma } from './gateways.ts';
import { inTime } from './processes.ts';
import { openProxiedSystem, USER, type ProxiedSystem } from './proxied-system.ts';

const reason = missingTools() ?? (postgresFolder() === undefined ? 'no PostgreSQL here' : undefined);

type Fault = {
  readonly name: string;
  /** Begins it and ends it. */
  readonly happens: (system: ProxiedSystem) => Promise<unknown>;
  /** What commands may be refused with meanwhile. */
  readonly refusals?: readonly string[];
};

/** Milliseconds that a fault lasts, where no event ends it. */
const LASTS = 500;
const KEEPS = { 'retention.ms': '-1', 'retention.bytes': '-1' };

const lasting = async (end: () => unknown): Promise<void> => {
  await sleep(LASTS);
  await end();
};

/** Runs a statement in which SCHEMA is that of the rows. */
const run = async ({ admin }: ProxiedSystem, statement: string): Promise<void> => {
  const schemas = await admin.query(
    "select schemaname from pg_tables where tablename = 'versions' and schemaname like 'stemma\\_rows\\_%'",
  );
  for (const [schema] of schemas) await admin.query(statement.replaceAll('SCHEMA', schema ?? ''));
};
const changed = (statement: string) => (system: ProxiedSystem) => run(system, statement);

const terminate = ({ admin }: ProxiedSystem) =>
  admin.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [USER]);

/** Changes the database for new connections, which all are then; and back. */
const setting = (on: string, off: string) => async (system: ProxiedSystem) => {
  await system.admin.query(on);
  await terminate(system);
  await lasting(() => system.admin.query(off));
  await terminate(system);
};

const BROKER: readonly Fault[] = [
  { name: 'all connections to the broker are cut', happens: async ({ broker }) => broker.cut() },
  { name: 'the broker refuses connections', happens: async ({ broker }) => lasting(await broker.refuse()) },
  { name: 'the broker is slow', happens: ({ broker }) => lasting(broker.slow(100)) },
  { name: 'the broker hangs and goes on', happens: ({ broker }) => lasting(broker.stall()) },
  {
    name: 'the broker hangs and its connections are cut',
    happens: ({ broker }) => {
      const resume = broker.stall();
      return lasting(() => {
        broker.cut();
        resume();
      });
    },
  },
  { name: 'an answer of the broker is cut in the middle', happens: ({ broker }) => broker.cutAnswer() },
  {
    name: 'the topic forgets records by time, and is set back',
    refusals: ['E_LOG_MISMATCH'],
    happens: async ({ setTopic }) => {
      await setTopic({ ...KEEPS, 'retention.ms': '600000' });
      await lasting(() => setTopic(KEEPS));
    },
  },
  {
    name: 'the topic is compacted, and is set back',
    refusals: ['E_LOG_MISMATCH'],
    happens: async ({ setTopic }) => {
      await setTopic({ ...KEEPS, 'cleanup.policy': 'compact' });
      await lasting(() => setTopic({ ...KEEPS, 'cleanup.policy': 'delete' }));
    },
  },
];

const DATABASE: readonly Fault[] = [
  { name: 'all sessions of the database are terminated', happens: terminate },
  {
    name: 'the database refuses connections',
    happens: async ({ database }) => lasting(await database.refuse()),
  },
  { name: 'the database is slow', happens: ({ database }) => lasting(database.slow(50)) },
  { name: 'the database hangs and goes on', happens: ({ database }) => lasting(database.stall()) },
  { name: 'an answer of the database is cut in the middle', happens: ({ database }) => database.cutAnswer() },
  {
    name: 'the database only reads',
    happens: setting(
      'alter database drill set default_transaction_read_only = on',
      'alter database drill reset default_transaction_read_only',
    ),
  },
  {
    name: 'the user may not log in',
    refusals: ['E_DATABASE_REFUSED'],
    happens: setting(`alter role ${USER} nologin`, `alter role ${USER} login`),
  },
  {
    name: 'the user may not use the rows',
    refusals: ['E_DATABASE_REFUSED'],
    happens: async (system) => {
      await run(system, `revoke all on all tables in schema stemma, SCHEMA from ${USER}`);
      await system.isUnready();
      await run(system, `grant all on all tables in schema stemma, SCHEMA to ${USER}`);
    },
  },
  {
    name: 'somebody locks a table',
    happens: (system) =>
      system.admin.transaction('write', async (session) => {
        await session.query('lock table stemma.cursors in access exclusive mode');
        await sleep(LASTS);
      }),
  },
];

const ROWS: readonly Fault[] = [
  { name: 'the schema is dropped', happens: ({ admin }) => admin.query('drop schema stemma cascade') },
  { name: 'a table of rows is dropped', happens: changed('drop table SCHEMA.versions cascade') },
  { name: 'a table of rows is truncated', happens: changed('truncate SCHEMA.frame_summaries') },
  { name: 'the cursors are truncated', happens: changed('truncate stemma.cursors') },
];

const PROCESSES: readonly Fault[] = [
  { name: 'the projector is killed', happens: ({ restartProjector }) => restartProjector() },
  {
    name: 'the projector hangs',
    happens: ({ projector }) => {
      projector().signal('SIGSTOP');
      return lasting(() => projector().signal('SIGCONT'));
    },
  },
  { name: 'the gateway is killed', happens: ({ restartGateway }) => restartGateway() },
  {
    name: 'broker and database are cut off at once',
    happens: async ({ broker, database }) => {
      const ends = await Promise.all([broker.refuse(), database.refuse()]);
      await lasting(() => Promise.all(ends.map((end) => end())));
    },
  },
];

const FAULTS = [...BROKER, ...DATABASE, ...ROWS, ...PROCESSES];

it(
  'a system of a gateway and a projector works again after each fault of its broker, its database and its processes, and keeps every acknowledged command once and in order',
  { tags: ['record§3:outcome'], timeout: 900_000 },
  async ({ skip }) => {
    if (reason !== undefined) return skip(reason);
    using folder = temporaryFolder();
    await using system = await openProxiedSystem(folder.path);
    const { processes, place } = system;
    try {
      await system.works('the start');
      for (const fault of FAULTS) {
        system.refusing(fault.refusals ?? []);
        await inTime(fault.name, fault.happens(system), 120);
        // Rows are noticed to be damaged when they are read.
        await system.works(fault.name, ROWS.includes(fault) ? 'all' : 'newest');
      }
      expect(
        countAnomalies(checkOperations(await inTime('the end of all writes', system.finish(), 120))),
      ).toEqual(NO_ANOMALIES);
      const verified = await stemma(processes, place, ['verify', '--rows']);
      expect(verified).toMatchObject({ said: expect.stringContaining('no problems'), code: 0 });
    } catch (error) {
      throw new Error(`${String(error)}\n${processes.last()}`, { cause: error });
    }
  },
);
