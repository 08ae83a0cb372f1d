import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatDirectory, JAVA_FLAGS, newClusterId, type BrokerLibs } from './java.ts';
import { freePorts, type Ports } from './ports.ts';

export type BrokerOptions = {
  /** What it is made of, and where its data goes. */
  readonly libs: BrokerLibs;
  readonly directory: string;
  /** Default: two that are free. */
  readonly ports?: Ports;
  /** One of a cluster: its own number, and the ports of all. Default: alone. */
  readonly node?: { readonly id: number; readonly ports: readonly Ports[]; readonly cluster: string };
  /** More lines of `server.properties`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Users that log in by SCRAM: `SCRAM-SHA-256=[name=…,password=…]`. */
  readonly scram?: readonly string[];
  /** Let it live on when this process ends. */
  readonly detached?: boolean;
};

/** A Kafka broker on the loopback address, which is its own controller. */
export type Broker = {
  /** `host:port` */
  readonly address: string;
  readonly pid: () => number;
  /** Ends it, at once with SIGKILL, and resolves when it is gone. */
  readonly stop: (signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>;
  /** Starts it again on the data it has; resolves when it answers. */
  readonly start: () => Promise<void>;
};

const HOST = '127.0.0.1';

/** Formats a broker's directory, starts it and resolves when it answers. @throws Error with the end of its log */
export const startBroker = async (options: BrokerOptions): Promise<Broker> => {
  if (options.ports) return startAt(options, options.ports);
  const cluster = newClusterId();
  for (let tries = 1; ; tries++)
    try {
      const ports = await freePorts();
      return await startAt({ ...options, node: { id: 1, ports: [ports], cluster } }, ports);
    } catch (error) {
      // Somebody took one of them in between.
      if (tries === 3 || !String(error).includes('in use')) throw error;
    }
};

const startAt = async (options: BrokerOptions, ports: Ports): Promise<Broker> => {
  const { libs, directory } = options;
  const node = options.node ?? { id: 1, ports: [ports], cluster: newClusterId() };
  mkdirSync(directory, { recursive: true });
  const properties = join(directory, 'server.properties');
  writeFileSync(properties, propertiesOf(directory, ports, node, options.settings ?? {}));
  await formatDirectory(libs, {
    data: join(directory, 'data'),
    properties,
    node,
    ...(options.scram && { scram: options.scram }),
  });
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const output = openSync(join(directory, 'broker.out'), 'a');
    child = spawn('java', [...JAVA_FLAGS, ...libs.flags, '-cp', libs.classPath, 'kafka.Kafka', properties], {
      stdio: ['ignore', output, output],
      detached: options.detached === true,
    });
    closeSync(output);
    if (options.detached === true) child.unref();
    // A cluster answers when most of it runs: its caller waits for all together.
    await answers(ports.broker, child, directory);
  };
  await start();
  return {
    address: `${HOST}:${ports.broker}`,
    pid: () => child?.pid ?? 0,
    start,
    stop: async (signal = 'SIGTERM') => {
      const ending = child;
      if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
      const gone = once(ending, 'exit');
      ending.kill(signal);
      await gone;
    },
  };
};

const propertiesOf = (
  directory: string,
  ports: Ports,
  { id, ports: all }: { readonly id: number; readonly ports: readonly Ports[] },
  settings: Readonly<Record<string, string>>,
): string =>
  Object.entries({
    'process.roles': 'broker,controller',
    'node.id': String(id),
    listeners: `PLAINTEXT://${HOST}:${ports.broker},CONTROLLER://${HOST}:${ports.controller}`,
    'advertised.listeners': `PLAINTEXT://${HOST}:${ports.broker}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.quorum.voters': all.map(({ controller }, i) => `${i + 1}@${HOST}:${controller}`).join(','),
    'log.dirs': join(directory, 'data'),
    'offsets.topic.replication.factor': String(Math.min(all.length, 3)),
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '1',
    'offsets.topic.num.partitions': '1',
    'group.initial.rebalance.delay.ms': '0',
    'auto.create.topics.enable': 'false',
    // A broker that was killed comes back when its registration has expired: 12 s by default.
    'broker.session.timeout.ms': '1000',
    'broker.heartbeat.interval.ms': '200',
    ...settings,
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

/** Resolves when the port takes connections. */
const answers = async (port: number, child: ChildProcess, directory: string): Promise<void> => {
  for (const until = performance.now() + 240_000; performance.now() < until;) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    if (await connects(port)) return;
    await sleep(50);
  }
  child.kill('SIGKILL');
  throw new Error(
    `the broker did not start: ${readFileSync(join(directory, 'broker.out'), 'utf8').slice(-2000)}`,
  );
};

const connects = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, HOST);
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
