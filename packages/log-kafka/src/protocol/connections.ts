import kafkajs from 'kafkajs';
import Cluster from 'kafkajs/src/cluster/index.js';
import loggers from 'kafkajs/src/loggers/index.js';
import { connect, type Socket } from 'node:net';
import { mendKafkajs } from './mend-kafkajs.ts';

/** Milliseconds that a broker has for an answer, beyond those that it was told to wait. */
export const REQUEST_TIMEOUT = 10_000;
const CONNECT_TIMEOUT = 3_000;

/** Sockets that can be ended at once: kafkajs waits for what is under way, and that may be a long poll. */
export type Sockets = {
  readonly factory: (options: {
    readonly host: string;
    readonly port: number;
    readonly onConnect: () => void;
  }) => Socket;
  readonly end: () => void;
};

/** @param lost is called whenever a connection ends, before it can be made anew. */
export const openSockets = (lost: () => void = () => undefined): Sockets => {
  const sockets = new Set<Socket>();
  return {
    factory: ({ host, port, onConnect }) => {
      const socket = connect({ host, port, noDelay: true, keepAlive: true }, onConnect);
      sockets.add(socket);
      // Before kafkajs hears of it: it connects again on the next request, and says nothing.
      for (const event of ['end', 'error', 'close']) socket.once(event, lost);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    },
    end: () => {
      for (const socket of sockets) socket.destroy(new Error('the log was closed'));
    },
  };
};

/** Another broker first each time, so that one that is away does not stand for all of them: kafkajs begins with the first. */
export const turned = (brokers: readonly string[], by: number): readonly string[] =>
  brokers.map((_, i) => brokers[(i + by) % brokers.length] ?? '');

/** kafkajs's own connections to brokers: it finds them and speaks to them, and tries nothing twice. */
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
  });
};

/** The public client, for what is rare: topics and their settings. */
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
  });
};
