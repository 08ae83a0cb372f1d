import { FRAME_VERSION } from '@stemma/events';
import { EVENT_TYPES, type Schema } from './schema.ts';

const digits = { type: 'string', pattern: '^[0-9]+$' };
const hash = { type: 'string', pattern: '^[0-9a-f]{64}$' };

/** The headers of every record: texts in UTF-8. */
export const HEADERS: readonly (readonly [name: string, about: string, schema: Schema])[] = [
  ['type', 'The name of the event.', { type: 'string', enum: [...EVENT_TYPES] }],
  ['version', 'Of the shape of the event.', digits],
  ['log', 'The id of the log that holds the event.', { type: 'string' }],
  ['history', 'The id of the history, as in the key.', { type: 'string' }],
  ['seq', 'The frame in the history, in digits.', digits],
  ['index', 'The event in the frame, in digits.', digits],
  ['count', 'How many events the frame has, in digits.', digits],
  ['frame', 'SHA-256 of the frame in hex: a repeat has the same.', hash],
  ['content-type', 'Of the value.', { type: 'string', const: 'application/json' }],
];

/** The AsyncAPI 3.0 document of the relay's topic; `summaries` has a sentence for each event type. */
export const asyncApi = (summaries: ReadonlyMap<string, string>): Schema => ({
  asyncapi: '3.0.0',
  info: {
    title: 'Stemma: accepted events',
    version: String(FRAME_VERSION),
    description:
      'Every accepted event of a Stemma as one record of a Kafka topic, at least once, in the order of its history. See events.md.',
    license: { name: 'Apache-2.0' },
  },
  defaultContentType: 'application/json',
  servers: {
    kafka: {
      host: '{broker}',
      protocol: 'kafka',
      description: 'The brokers that `stemma relay --to kafka://HOST:PORT/TOPIC` names.',
      variables: { broker: { description: 'HOST:PORT of one of the brokers.' } },
    },
  },
  channels: {
    events: {
      address: '{topic}',
      description:
        'Records of one history are in one partition, in order: (seq, index) rises. A record may come again, with the same history, seq, index and bytes.',
      parameters: { topic: { description: 'The topic of the relay (`stemma relay --to`).' } },
      messages: Object.fromEntries(
        EVENT_TYPES.map((type) => [type, { $ref: `#/components/messages/${type}` }]),
      ),
    },
  },
  operations: {
    receiveEvents: {
      action: 'receive',
      channel: { $ref: '#/channels/events' },
      summary: 'What a consumer gets.',
    },
  },
  components: {
    messages: Object.fromEntries(
      EVENT_TYPES.map((type) => [
        type,
        {
          name: type,
          summary: summaries.get(type) ?? type,
          headers: { $ref: '#/components/schemas/headers' },
          payload: {
            schemaFormat: 'application/schema+json;version=draft-2020-12',
            schema: { $ref: `./events/schemas/${type}.json` },
          },
          bindings: { kafka: { key: { type: 'string', description: 'The id of the history.' } } },
        },
      ]),
    ),
    schemas: {
      headers: {
        type: 'object',
        required: HEADERS.map(([name]) => name),
        properties: Object.fromEntries(
          HEADERS.map(([name, description, schema]) => [name, { description, ...schema }]),
        ),
      },
    },
  },
});
