import kafkajs from 'kafkajs';
import Cluster from 'kafkajs/src/cluster/index.js';
import loggers from 'kafkajs/src/loggers/index.js';
import type { Socket } from 'node:net';
import type { KafkaSecurity } from '../security/settings.ts';
import { loginOf, type Login } from './login.ts';
import { mendKafkajs } from './mend-kafkajs.ts';
import { openSocket } from './tls-socket.ts';

/** Milliseconds that a broker has for an answer, in addition to the time that the request tells it to wait. */
export const REQUEST_TIMEOUT = 10_000;
const CONNECT_TIMEOUT = 3_000;

/** Sockets that can be closed at once. kafkajs waits for open requests first, and one of them may be a long poll. */
export type Sockets = {
  readonly security: KafkaSecurity;
  readonly factory: (options: {
    readonly host: string;
    readonly port: number;
    readonly onConnect: () => void;
  }) => Socket;
  readonly end: () => void;
};

/** @param lost is called whenever a connection ends, before kafkajs can open another. */
export const openSockets = (security: KafkaSecurity, lost: () => void = () => undefined): Sockets => {
  const sockets = new Set<Socket>();
  return {
    security,
    factory: ({ host, port, onConnect }) => {
      const socket = openSocket(security, { host, port }, onConnect);
      sockets.add(socket);
      // These listeners run before those of kafkajs, which connects again on the next request and reports nothing.
      for (const event of ['end', 'error', 'close']) socket.once(event, lost);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    },
    end: () => {
      for (const socket of sockets) socket.destroy(new Error('the log was closed'));
    },
  };
};

/** The list of brokers, rotated. kafkajs tries only the first one, so each attempt must begin with another. */
export const turned = (brokers: readonly string[], by: number): readonly string[] =>
  brokers.map((_, i) => brokers[(i + by) % brokers.length] ?? '');

/** The inner cluster of kafkajs: it finds brokers and sends requests, and retries nothing. */
export const openCluster = (brokers: readonly string[], sockets: Sockets): Cluster => {
  mendKafkajs();
  return new Cluster({
    logger: loggers.createLogger({ level: 0, logCreator: () => () => undefined }),
    socketFactory: sockets.factory,
    brokers,
    clientId: 'stemma',
    connectionTimeout: CONNECT_TIMEOUT,
    requestTimeout: REQUEST_TIMEOUT,
    enforceRequestTimeout: true,
    metadataMaxAge: 300_000,
    retry: { retries: 0 },
    allowAutoTopicCreation: false,
    maxInFlightRequests: null,
    isolationLevel: 0,
    ...saslOf(sockets),
  });
};

/** The public client of kafkajs, for topics and their settings. */
export const openKafka = (brokers: readonly string[], sockets: Sockets): kafkajs.Kafka => {
  mendKafkajs();
  return new kafkajs.Kafka({
    brokers: [...brokers],
    clientId: 'stemma',
    connectionTimeout: CONNECT_TIMEOUT,
    requestTimeout: REQUEST_TIMEOUT,
    retry: { retries: 0 },
    logLevel: kafkajs.logLevel.NOTHING,
    socketFactory: sockets.factory,
    ...(saslOf(sockets) as Pick<kafkajs.KafkaConfig, 'sasl'>),
  });
};

const saslOf = ({ security: { sasl } }: Sockets): { readonly sasl?: Login } =>
  sasl === undefined ? {} : { sasl: loginOf(sasl) };
