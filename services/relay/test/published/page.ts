import { ControlEvent, versionOfEvent } from '@stemma/events';
import { HEADERS } from '../../src/published/async-api.ts';
import { EVENT_TYPES, eventSchema, type Schema } from '../../src/published/schema.ts';
import type { Comments } from './comments.ts';

/** docs/events.md: the part before the events is written by hand here, the rest comes from the catalogue. */
export const eventsPage = (comments: ReadonlyMap<string, Comments>): string =>
  [
    INTRODUCTION,
    '| header | what it says |',
    '| --- | --- |',
    ...HEADERS.map(([name, about]) => `| \`${name}\` | ${about} |`),
    '',
    VALUES,
    '## The events',
    '',
    `All are of version 1 but ${LATER.join(' and ')}. The schema of each record is in [events/schemas](events/schemas).`,
    '',
    ...EVENT_TYPES.flatMap((type) => section(type, comments.get(type), eventSchema(type))),
    '## What is not relayed',
    '',
    'The log keeps three more events, about itself and not about any history:',
    '',
    ...ControlEvent.options.map(({ shape }) => {
      const type = shape.type.value;
      return `- \`${type}\`: ${comments.get(type)?.about ?? ''}`;
    }),
    '',
  ].join('\n');

/** The events whose shape has changed since the first version. */
const LATER = EVENT_TYPES.filter((type) => versionOfEvent(type) > 1).map(
  (type) => `\`${type}\` (${versionOfEvent(type)})`,
);

const section = (type: string, comments: Comments | undefined, schema: Schema): readonly string[] => {
  const { type: _, ...fields } = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>;
  const required = (schema['required'] ?? []) as readonly string[];
  const rows = Object.entries(fields).map(([name, field]) => {
    const absent = required.includes(name) ? '' : ' (may be absent)';
    return `| \`${name}\`${absent} | ${cell(typeOf(field))} | ${cell(comments?.fields.get(name) ?? '')} |`;
  });
  const table = rows.length === 0 ? ['No fields.'] : ['| field | type | |', '| --- | --- | --- |', ...rows];
  return [`### ${type}`, '', comments?.about ?? '', '', ...table, ''];
};

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** A schema in a few words. */
const typeOf = (schema: Schema): string => {
  const { $ref, anyOf, items, properties, enum: values } = schema;
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1);
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (Array.isArray(anyOf)) return (anyOf as readonly Schema[]).map(typeOf).join(' or ');
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(', ');
  if (items !== undefined) return `list of ${typeOf(items as Schema)}`;
  if (properties !== undefined)
    return `{ ${Object.entries(properties as Record<string, Schema>)
      .map(([name, each]) => `${name}: ${typeOf(each)}`)
      .join(', ')} }`;
  const { type } = schema;
  return typeof type === 'string' ? type : Array.isArray(type) ? type.join(' or ') : 'any JSON';
};

const INTRODUCTION = `# Events for everyone

Which records does the relay publish, and what is in each?

For example, this record says that a node was removed because its time ran out:

\`\`\`json
{
  "type": "NodeExpired",
  "version": 1,
  "history": "h3nq5…",
  "seq": 12,
  "index": 2,
  "count": 4,
  "branchId": 0,
  "command": "…",
  "at": 1724670000000,
  "author": { "recorder": "agent" },
  "event": { "type": "NodeExpired", "id": "block-7" }
}
\`\`\`

\`stemma relay\` publishes every accepted event as one record of a Kafka topic ([consumers.md](consumers.md) shows how to run it
and how to read the topic). This page describes the records; [asyncapi.json](asyncapi.json) and the JSON Schemas describe
them for programs. All three are generated from the catalogue of events (\`vitest run services/relay/test/published -u\`), and a test fails
when they are stale.

## What holds

- **Every accepted event is published at least once.** Stale, damaged and defective frames never are.
- **The records of one history are in one partition, in order**: by \`seq\`, then by \`index\`. Between histories there is no
  order.
- **A record may be repeated**, always with the same \`history\`, \`seq\`, \`index\` and bytes. A consumer that keeps the last
  (\`seq\`, \`index\`) of each history skips every record that is not after it. \`count\` is the number of events in the frame:
  with the last of them the effect of the command is complete.
- **Records do not change.** A new shape of an event has a new \`version\`, with null for what was not recorded before; a repeat of an
  older record after an upgrade has it, too. New events may appear at any time: skip the types that you do not know.

## A record

Its key is the id of the history. Its headers are texts in UTF-8:
`;

const VALUES = `Its value is JSON, the event of \`stemma log --json\` with its location, as in the example above.

Integers of any size are bare digits: \`created_at_ns\` has 19, which JavaScript's \`JSON.parse\` rounds. Hashes are
lower-case hex.

**Large contents.** A value has at most 900 KiB. A content (\`content\`, \`content_*\` and \`data_*\` of a node) above 256 KiB is
null there, and \`contents\` names what belongs where: \`{ "at": "/event/node/content", "sha256": …, "size": … }\`, the
SHA-256 and the length of its canonical msgpack, under which the contents store has it. If that is not enough, further
contents follow, the largest first; if the whole event is too large, \`event\` is null and the reference is at
\`/event\`. \`GET /api/histories/{history}/events?from=SEQ\` gives the whole event.
`;
