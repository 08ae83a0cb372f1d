import { readVarint } from '@stemma/canonical';
import type { Broker } from 'kafkajs/src/cluster/index.js';
import Encoder from 'kafkajs/src/protocol/encoder.js';

const METADATA = 3;
/** The first version that names the id of a topic; Kafka has it since 2.8. */
const VERSION = 10;

/**
 * The id that the brokers gave the topic when it was made: another topic of the same name has another one. Undefined if the
 * brokers are too old to know.
 *
 * @throws Error if there is no such topic, or no answer came
 */
export const fetchTopicId = async (broker: Broker, topic: string): Promise<string | undefined> => {
  const versions = broker.versions?.[METADATA];
  if (versions !== undefined && versions.maxVersion < VERSION) return undefined;
  return (await broker.connectionPool.send({
    request: {
      apiKey: METADATA,
      apiVersion: VERSION,
      apiName: 'Metadata',
      encode: async () => {
        const encoder = new Encoder();
        encoder.writeBufferInternal(encodeRequest(topic));
        return encoder;
      },
    },
    response: {
      decode: async (payload) => payload,
      parse: async (payload) => readTopicId(payload as Buffer),
    },
  })) as string;
};

/**
 * Sizes in bytes: tags of the header 1, topics varint, [id 16, name varint + text, tags 1], make it 1, permissions of the
 * cluster 1 and of the topic 1, tags 1. A varint of a length is one more than the length.
 */
const encodeRequest = (topic: string): Buffer => {
  const name = Buffer.from(topic);
  return Buffer.concat([
    Buffer.from([0, 2]),
    Buffer.alloc(16),
    Buffer.from(varint(name.length + 1)),
    name,
    Buffer.alloc(5),
  ]);
};

/**
 * The id in an answer. Sizes in bytes: tags of the header 1, throttle 4, [node 4, host, port 4, rack, tags 1], cluster,
 * controller 4, [error 2, name, id 16, …]; texts begin with a varint.
 */
export const readTopicId = (payload: Buffer): string => {
  const cursor = { at: 5 };
  const length = (): number => {
    const value = readVarint(payload, cursor);
    if (value === undefined) throw new RangeError('the answer of the broker ends in a number');
    return value - 1;
  };
  const skipText = (): void => {
    const bytes = length();
    cursor.at += Math.max(bytes, 0);
  };
  for (let brokers = length(); brokers > 0; brokers--) {
    cursor.at += 4;
    skipText();
    cursor.at += 4;
    skipText();
    cursor.at++;
  }
  skipText();
  cursor.at += 4;
  if (length() !== 1) throw new Error('the broker left the topic out');
  const error = payload.readInt16BE(cursor.at);
  cursor.at += 2;
  if (error !== 0) throw new Error(`the broker does not describe the topic: error ${error}`);
  skipText();
  return payload.subarray(cursor.at, cursor.at + 16).toString('base64url');
};

const varint = (value: number): readonly number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)];
