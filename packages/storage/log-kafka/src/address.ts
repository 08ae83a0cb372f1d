import { fail, shownAddress } from '@stemma/errors';

/** The address of a log on Kafka: brokers, and the prefix of its topics' names. */
export type KafkaAddress = {
  readonly brokers: readonly string[];
  readonly prefix: string;
  /** For a new log; an existing one must have the same number if it is given. */
  readonly partitions?: number;
};

const ADDRESS = /^kafka:\/\/([^/?#\s]{1,2000})\/([A-Za-z0-9._-]{1,200})(?:\?partitions=([1-9]\d{0,3}))?$/;
// No IPv6 addresses: the client splits at the first colon.
const BROKER = /^[A-Za-z0-9.-]{1,253}:([1-9]\d{0,4})$/;

/** Reads `kafka://host:port[,host:port]/prefix[?partitions=6]`. @throws E_USAGE */
export const parseKafkaAddress = (text: string): KafkaAddress => {
  const [, hosts = '', prefix = '', partitions] = ADDRESS.exec(text) ?? [];
  const brokers = hosts.split(',');
  if (prefix === '' || !brokers.every((broker) => Number(BROKER.exec(broker)?.[1] ?? Infinity) < 65536))
    throw fail(
      'E_USAGE',
      `${JSON.stringify(shownAddress(text).slice(0, 200))} is not kafka://HOST:PORT[,HOST:PORT]/PREFIX${text.includes('@') ? '; a user and a password are in STEMMA_KAFKA_USERNAME and STEMMA_KAFKA_PASSWORD_FILE' : ''}`,
    );
  return { brokers, prefix, ...(partitions === undefined ? {} : { partitions: Number(partitions) }) };
};
