import { isStemmaError } from '@stemma/errors';
import { openKafkaLog } from '@stemma/log-kafka';
import { openDatabase, type Database } from '@stemma/postgres';
import {
  brokerLibs,
  freePort,
  freePorts,
  setTopic,
  sized,
  startBroker,
  startPostgres,
  type Operation,
} from '@stemma/test-kit';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFaultProxy, type FaultProxy } from './fault-proxy.ts';
import { clientOf, startGateway, valuesOf, type Gateway } from './gateways.ts';
import {
  openProcesses,
  startProjector,
  until,
  type Place,
  type Process,
  type Processes,
} from './processes.ts';

/** Seconds within which a system works again once a fault is over; in a long run other tests run beside it. */
const RECOVERS = sized(20, 60);
/** Milliseconds between two commands of a client. */
const PACE = 200;
/** The user that gateway and projector are; what is done to the database is done by another. */
export const USER = 'drilled';
const HISTORIES = ['left', 'right'];

/** One gateway and one projector that reach their broker and their database through proxies, and clients that write all the time. */
export type ProxiedSystem = AsyncDisposable & {
  readonly place: Place;
  readonly processes: Processes;
  readonly broker: FaultProxy;
  readonly database: FaultProxy;
  /** The database, past the proxy, as its administrator. */
  readonly admin: Database;
  readonly setTopic: (settings: Readonly<Record<string, string>>) => Promise<void>;
  readonly projector: () => Process;
  readonly gateway: () => Gateway;
  /** Kills it and starts another one. */
  readonly restartProjector: () => Promise<void>;
  readonly restartGateway: () => Promise<void>;
  /** Lets clients retry what is refused with these codes, and nothing else but what passes by itself. */
  readonly refusing: (codes: readonly string[]) => void;
  /**
   * Resolves when the gateway is ready, answers a command that is sent now, and shows it and what it acknowledged before, in its
   * place: the newest, or all. @throws Error if it does not in time, if the projector has ended, or if a client was refused
   */
  readonly works: (after: string, reads?: 'newest' | 'all') => Promise<void>;
  /** Resolves when the gateway says that it is not ready. @throws Error if it does not in time */
  readonly isUnready: () => Promise<void>;
  /** Ends the clients. @returns what they wrote */
  readonly finish: () => Promise<readonly Operation[]>;
};

const openServers = async (folder: string) => {
  const [{ broker: direct, controller }, doors] = [await freePorts(), await freePorts()];
  const { broker: behind, controller: proxied } = doors;
  const kafka = await startBroker({
    libs: await brokerLibs(),
    directory: join(folder, 'kafka'),
    ports: { broker: direct, controller },
    // One listener for whoever comes directly, and one that sends everybody to the proxy.
    settings: {
      listeners: `PLAINTEXT://127.0.0.1:${direct},PROXIED://127.0.0.1:${behind},CONTROLLER://127.0.0.1:${controller}`,
      'advertised.listeners': `PLAINTEXT://127.0.0.1:${direct},PROXIED://127.0.0.1:${proxied}`,
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT',
    },
  });
  const postgres = await startPostgres();
  const server = openDatabase(postgres.url);
  await server.query(`create role ${USER} login`);
  await server.query(`create database drill owner ${USER}`);
  await server.close();
  const url = new URL(postgres.url);
  url.pathname = '/drill';
  const admin = openDatabase(url.href);
  const rowsPort = await freePort();
  const broker = await openFaultProxy(proxied, behind);
  const database = await openFaultProxy(rowsPort, Number(url.port));
  return {
    kafka: kafka.address,
    proxiedKafka: `127.0.0.1:${proxied}`,
    rows: `postgres://${USER}@127.0.0.1:${rowsPort}/drill`,
    admin,
    broker,
    database,
    close: async () => {
      await admin.close();
      await broker.close();
      await database.close();
      await kafka.stop('SIGKILL');
      await postgres.remove();
    },
  };
};

/** Clients that write to a history each, one command after the other, and send each until it is acknowledged. */
const openClients = (gateway: () => Gateway) => {
  const operations: Operation[] = [];
  let codes: readonly string[] = [];
  let going = true;
  const gone = new AbortController();
  const isRefused = (error: unknown): boolean => isStemmaError(error) && codes.includes(error.code);
  const passes = (error: unknown): boolean =>
    isRefused(error) || (isStemmaError(error) && (error.row.retriable || error.code === 'E_IO'));
  const client = clientOf(() => gateway().url, 5_000);
  const send = async (history: string, value: string): Promise<number> => {
    const body = { id: value, actor: history, steps: [{ op: 'inject' as const, text: value, id: value }] };
    for (;;)
      try {
        const { position } = await client.command({ history, body });
        const { seq } = position;
        operations.push({ kind: 'write', process: history, history, value, outcome: 'ok', seq });
        return seq;
      } catch (error) {
        if (!passes(error) || gone.signal.aborted) throw error;
        await sleep(PACE);
      }
  };
  /** Sends by one client are one after the other: a probe is sent between two of its commands. */
  const queues = new Map<string, Promise<unknown>>();
  const enqueue = (history: string, value: string): Promise<number> => {
    const mine = (queues.get(history) ?? Promise.resolve()).then(() => send(history, value));
    queues.set(history, mine);
    return mine;
  };
  const begin = async (): Promise<void> => {
    for (const name of HISTORIES) {
      const { position } = await client.start({ body: { id: `start ${name}`, recorder: 'drill', name } });
      operations.push({
        kind: 'write',
        process: name,
        history: name,
        value: `start ${name}`,
        outcome: 'ok',
        seq: position.seq,
      });
    }
  };
  const write = async (history: string): Promise<void> => {
    for (let i = 0; going; i++) {
      await enqueue(history, `${history}-${i}`);
      await sleep(PACE);
    }
  };
  let writing: Promise<unknown> = Promise.resolve();
  return {
    client,
    operations,
    isRefused,
    enqueue,
    refusing: (given: readonly string[]) => void (codes = given),
    begin: async () => {
      await begin();
      writing = Promise.all(HISTORIES.map(write));
      writing.catch(() => undefined);
    },
    /** Never resolves, but rejects if a client was refused. */
    crashed: () => new Promise<never>((_, reject) => void writing.catch(reject)),
    finish: async () => {
      going = false;
      await writing;
    },
    /** As `finish`, but what is not acknowledged by then is not sent again: a system that no longer works acknowledges nothing. */
    giveUp: async () => {
      going = false;
      gone.abort();
      await writing.catch(() => undefined);
    },
  };
};

export const openProxiedSystem = async (folder: string): Promise<ProxiedSystem> => {
  const servers = await openServers(folder);
  const { admin, broker, database } = servers;
  const prefix = `drill-${randomUUID()}`;
  const log = await openKafkaLog({ brokers: [servers.kafka], prefix, partitions: 2 });
  const { topic } = log.facts;
  await log.close();
  const place: Place = {
    log: `kafka://${servers.proxiedKafka}/${prefix}`,
    rows: servers.rows,
    home: join(folder, 'home'),
  };
  const processes = openProcesses();
  let projector = startProjector(processes, place);
  let gateway = await startGateway(processes, place, 'gateway');
  const clients = openClients(() => gateway);
  await until('the first commands', () => clients.begin().then(() => true));
  let probes = 0;

  const works: ProxiedSystem['works'] = async (after, reads = 'newest') => {
    const value = `probe-${++probes}`;
    const before = [...clients.operations];
    const tried = async (holds: () => Promise<boolean>): Promise<boolean> =>
      holds().catch((error: unknown) => {
        if (clients.isRefused(error)) return false;
        throw error;
      });
    const eventually = (what: string, holds: () => Promise<boolean>): Promise<void> =>
      Promise.race([until(`${what} after: ${after}`, () => tried(holds), RECOVERS), clients.crashed()]);
    await eventually('a gateway that is ready', async () => {
      await clients.client.healthReady({});
      return true;
    });
    const [history = ''] = HISTORIES;
    let acknowledged = false;
    void clients.enqueue(history, value).then(
      () => (acknowledged = true),
      () => undefined,
    );
    await eventually('a command to be answered', async () => acknowledged);
    for (const each of HISTORIES) {
      const last = before.findLast(({ history }) => history === each);
      const from = reads === 'all' || last?.kind !== 'write' || last.outcome !== 'ok' ? 0 : (last.seq ?? 0);
      await eventually(`${each} to be shown`, async () => {
        const values = await valuesOf(clients, each, from);
        if (reads === 'all') await clients.client.thread({ history: each });
        const missing = before.find(
          (write) =>
            write.kind === 'write' &&
            write.history === each &&
            write.outcome === 'ok' &&
            (write.seq ?? 0) >= from &&
            values[write.seq ?? 0] !== write.value,
        );
        if (missing !== undefined) throw new Error(`after ${after} ${each} lacks ${JSON.stringify(missing)}`);
        return each !== history || values.includes(value);
      });
    }
    if (projector.ended()) throw new Error(`the projector ended after: ${after}`);
  };

  return {
    place,
    processes,
    broker,
    database,
    admin,
    setTopic: (settings) => setTopic([servers.kafka], topic, settings),
    projector: () => projector,
    gateway: () => gateway,
    restartProjector: async () => {
      await projector.end('SIGKILL');
      projector = startProjector(processes, place);
    },
    restartGateway: async () => {
      await gateway.end('SIGKILL');
      gateway = await startGateway(processes, place, 'gateway again');
    },
    refusing: clients.refusing,
    works,
    isUnready: () =>
      until('a gateway that is not ready', () =>
        clients.client.healthReady({}).then(
          () => false,
          () => true,
        ),
      ),
    finish: async () => {
      await clients.finish();
      for (const history of HISTORIES)
        clients.operations.push({
          kind: 'poll',
          process: 'gateway',
          history,
          from: 0,
          values: await valuesOf(clients, history),
        });
      return clients.operations;
    },
    [Symbol.asyncDispose]: async () => {
      await clients.giveUp();
      await processes[Symbol.asyncDispose]();
      await servers.close();
    },
  };
};
