import { HistoryEvent, versionOfEvent } from '@stemma/events';
import { z } from 'zod';

/** A JSON Schema, or a part of one. */
export type Schema = { readonly [keyword: string]: unknown };

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

type EventType = HistoryEvent['type'];
export const EVENT_TYPES: readonly EventType[] = HistoryEvent.options.map(({ shape }) => shape.type.value);

type Shape = Readonly<Record<string, z.core.$ZodType>>;
const shapeOf = (type: EventType): Shape => {
  const option = HistoryEvent.options.find(({ shape }) => shape.type.value === type);
  return option?.shape ?? {};
};

/** Schemas for fields that zod cannot describe, because it checks them by hand or makes a bigint of them. */
const BY_HAND: ReadonlyMap<z.core.$ZodType | undefined, Schema> = new Map<
  z.core.$ZodType | undefined,
  Schema
>([
  [shapeOf('NodeInserted')['node'], { $ref: 'common.json#/$defs/node' }],
  [shapeOf('SnapshotCommitted')['treeHash'], { $ref: 'common.json#/$defs/sha256' }],
  [shapeOf('ObservationRecorded')['first_at'], { $ref: 'common.json#/$defs/nanoseconds' }],
]);

/** The schema of the event itself, in a record's `event`. */
export const eventSchema = (type: EventType): Schema => {
  const option = HistoryEvent.options.find(({ shape }) => shape.type.value === type);
  const {
    $schema: _,
    $defs: __,
    ...own
  } = z.toJSONSchema(option ?? HistoryEvent, {
    target: 'draft-2020-12',
    io: 'output',
    reused: 'inline',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const known = BY_HAND.get(zodSchema);
      if (known === undefined) return;
      for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword as 'type'];
      Object.assign(jsonSchema, known);
    },
  }) as Schema;
  return own;
};

const count = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const id = { type: 'string', minLength: 1 };
const nullable = (type: string): Schema => ({ type: [type, 'null'] });

/** The definitions that the schemas of all events share. */
const common = (): Schema => ({
  $schema: DIALECT,
  $id: 'common.json',
  $defs: {
    sha256: { description: 'SHA-256 in lower-case hex.', type: 'string', pattern: '^[0-9a-f]{64}$' },
    nanoseconds: {
      description:
        'Nanoseconds since 1970, an integer of up to 64 bits: read it with a parser that keeps all its digits.',
      type: 'integer',
    },
    node: {
      description:
        'A node as it was recorded: the headers that Stemma knows; `content`, `content_*`, `data_*` and any other attribute stand beside them.',
      type: 'object',
      required: ['id', 'nodeType', 'offset', 'ttl', 'priority', 'cycle', 'created_at_ns', 'creation_index'],
      properties: {
        id,
        nodeType: id,
        offset: { type: 'integer' },
        ttl: { ...nullable('integer'), minimum: 0 },
        priority: { type: 'number' },
        cycle: { type: 'integer' },
        created_at_ns: { $ref: '#/$defs/nanoseconds' },
        creation_index: count,
        role: nullable('string'),
        kind: nullable('string'),
        key: nullable('string'),
        removable: nullable('boolean'),
        refs: { type: ['array', 'null'], items: { type: 'string' } },
      },
    },
    author: {
      description: "Who wrote the frame: an agent's or importer's own record, or an actor's act.",
      oneOf: ['recorder', 'actor'].map((who) => ({
        type: 'object',
        required: [who],
        properties: { [who]: id },
        additionalProperties: false,
      })),
    },
    reference: {
      description:
        'A value that is too large for a record: `at` is where it would stand (a JSON pointer; the record has null there), `sha256` and `size` are of its canonical msgpack.',
      type: 'object',
      required: ['at', 'sha256', 'size'],
      properties: { at: { type: 'string' }, sha256: { $ref: '#/$defs/sha256' }, size: count },
      additionalProperties: false,
    },
  },
});

/** The fields around each event in a record. */
const around = {
  history: { description: 'The id of the history: also the key of the record.', ...id, maxLength: 512 },
  seq: { description: 'The frame: counts those of the history, from 0.', ...count },
  index: { description: 'The event in its frame, from 0.', ...count },
  count: { description: 'How many events the frame has.', ...count, minimum: 1 },
  branchId: { description: 'The branch: the `seq` of the frame it began with; 0 is `main`.', ...count },
  command: { description: 'The id of the command that brought it.', ...id },
  at: { description: 'When the command was decided, in milliseconds since 1970.', type: 'integer' },
  author: { $ref: 'common.json#/$defs/author' },
};

/** The schema of a record with an event of this type. */
const recordSchema = (type: EventType): Schema => ({
  $schema: DIALECT,
  $id: `${type}.json`,
  title: type,
  type: 'object',
  required: ['type', 'version', ...Object.keys(around), 'event'],
  properties: {
    type: { const: type },
    version: { description: 'Of the shape of the event.', const: versionOfEvent(type) },
    ...around,
    event: {
      description: 'The event; null if all of it is too large for a record.',
      anyOf: [eventSchema(type), { type: 'null' }],
    },
    contents: {
      description: 'What is too large for a record; left out if nothing is.',
      type: 'array',
      minItems: 1,
      items: { $ref: 'common.json#/$defs/reference' },
    },
  },
  additionalProperties: false,
});

/** Every schema of the contract by its file name: one per event, and the shared definitions. */
export const schemaFiles = (): ReadonlyMap<string, Schema> =>
  new Map([
    ['common.json', common()],
    ...EVENT_TYPES.map((type) => [`${type}.json`, recordSchema(type)] as const),
    [
      'record.json',
      {
        $schema: DIALECT,
        $id: 'record.json',
        title: 'Any record of the relay',
        oneOf: EVENT_TYPES.map((type) => ({ $ref: `${type}.json` })),
      },
    ],
  ]);
