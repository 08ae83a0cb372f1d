import { fromHex, sha256 } from '@stemma/canonical';
import type { Frame, HistoryEvent } from '@stemma/events';
import { decodeBody, decodeEnvelope, finishBody } from '@stemma/log';
import specs from '@asyncapi/specs';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { describe, expect, it, test } from 'vitest';
import { asyncApi } from '../../src/published/async-api.ts';
import { MAX_RECORD_BYTES, relayedRecords } from '../../src/published/record.ts';
import { EVENT_TYPES, schemaFiles } from '../../src/published/schema.ts';
import { eventComments } from './comments.ts';
import { eventsPage } from './page.ts';

const DOCS = join(import.meta.dirname, '../../../../docs');
const comments = eventComments();
const json = (value: unknown): Promise<string> =>
  format(JSON.stringify(value), { parser: 'json', printWidth: 110 });

describe('the contract is generated, and the files are not stale', () => {
  it('docs/events.md says of every event what it records', async () => {
    for (const type of EVENT_TYPES) expect(comments.get(type)?.about, type).toMatch(/\w{3}/);
    const page = await format(eventsPage(comments), { parser: 'markdown', printWidth: 110 });
    await expect(page).toMatchFileSnapshot(join(DOCS, 'events.md'));
  });

  it('docs/events/schemas has a JSON Schema for each record, and no other', async () => {
    const files = schemaFiles();
    for (const [name, schema] of files)
      await expect(await json(schema)).toMatchFileSnapshot(join(DOCS, 'events/schemas', name));
    expect(readdirSync(join(DOCS, 'events/schemas')).filter((name) => !files.has(name))).toEqual([]);
  });

  it('docs/asyncapi.json is an AsyncAPI 3.0 document, and every schema it refers to exists', async () => {
    const document = asyncApi(new Map([...comments].map(([type, { about }]) => [type, about])));
    await expect(await json(document)).toMatchFileSnapshot(join(DOCS, 'asyncapi.json'));
    const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(
      specs.schemasWithoutId['3.0.0'] as object,
    );
    expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...document, channels: [] })).toBe(false);
    for (const ref of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g))
      expect(targetOf(document, ref[1] ?? ''), ref[1]).toBeDefined();
  });
});

/** What a reference of the document leads to. */
const targetOf = (document: unknown, ref: string): unknown => {
  if (ref.startsWith('./')) return readFileSync(join(DOCS, ref), 'utf8');
  let at = document as Record<string, unknown> | undefined;
  for (const name of ref.slice(2).split('/')) at = at?.[name] as Record<string, unknown> | undefined;
  return at;
};

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
for (const schema of schemaFiles().values()) ajv.addSchema(schema);
const faultsOf = (value: unknown): string => {
  ajv.validate('record.json', value);
  return ajv.errorsText();
};
const NONE = 'No errors';

type Corpus = { readonly frames: readonly { readonly event: string; readonly frame: string }[] };
const CORPORA = join(import.meta.dirname, '../../../../packages/storage/log/corpus');
const corpus: Corpus = {
  frames: ['v1.json', 'v2.json'].flatMap(
    (name) => (JSON.parse(readFileSync(join(CORPORA, name), 'utf8')) as Corpus).frames,
  ),
};

const frameOf = (bytes: Uint8Array): Frame => {
  const read = decodeEnvelope(bytes);
  if (!read) throw new Error('no envelope');
  const body = finishBody(decodeBody(read.envelope.v, bytes, read.bodyAt), () => undefined);
  return { envelope: read.envelope, body: body as Frame['body'] };
};

test('a record of every event type ever recorded matches its schema, and a record that lacks a field does not', () => {
  const seen = new Set<string>();
  for (const { event, frame } of corpus.frames) {
    if (!(EVENT_TYPES as readonly string[]).includes(event)) continue;
    const bytes = fromHex(frame);
    for (const { value, headers } of relayedRecords(frameOf(bytes), sha256(bytes), 'a-log')) {
      seen.add(headers['type'] ?? '');
      const record = JSON.parse(value) as Record<string, unknown> & { event: Record<string, unknown> };
      expect(faultsOf(record), event).toBe(NONE);
      expect(faultsOf({ ...record, more: 1 })).not.toBe(NONE);
      for (const name of Object.keys(record)) {
        const { [name]: _, ...rest } = record;
        expect(faultsOf(rest), `${event} without ${name}`).not.toBe(NONE);
      }
      const { type: _, ...untyped } = record.event;
      expect(faultsOf({ ...record, event: untyped })).not.toBe(NONE);
      expect(faultsOf({ ...record, event: { ...record.event, more: 1 } })).not.toBe(NONE);
    }
  }
  expect(seen).toEqual(new Set(EVENT_TYPES));
});

describe('a record', () => {
  const sample = corpus.frames.find(({ event }) => event === 'NodeInserted')?.frame ?? '';
  const bytes = fromHex(sample);
  const frame = frameOf(bytes);
  const [inserted] = frame.body.events as readonly (HistoryEvent & { type: 'NodeInserted' })[];
  const recordOf = (attributes: Readonly<Record<string, unknown>>) => {
    if (inserted === undefined) throw new Error('no sample');
    const event = { ...inserted, node: { ...inserted.node, ...attributes } };
    const [record] = relayedRecords({ ...frame, body: { ...frame.body, events: [event] } }, bytes, 'a-log');
    const value = record?.value ?? '';
    expect(Buffer.byteLength(value)).toBeLessThanOrEqual(MAX_RECORD_BYTES);
    const read = JSON.parse(value) as { event: { node: Record<string, unknown> } | null; contents?: unknown };
    expect(faultsOf(read)).toBe(NONE);
    return read;
  };

  it('holds every digit of a time, and hashes in hex', () => {
    const [{ value, key, headers } = { value: '', key: '', headers: {} }] = relayedRecords(
      frame,
      sha256(bytes),
      'a-log',
    );
    expect(value).toContain('"created_at_ns":1724670000000000001');
    expect(headers).toMatchObject({ history: key, seq: String(frame.envelope.seq), index: '0', count: '1' });
    expect(headers['frame']).toBe(Buffer.from(sha256(bytes)).toString('hex'));
  });

  it('refers to a content above 256 KiB and holds one below', () => {
    const small = recordOf({ content: 'x'.repeat(200 * 1024) });
    expect(small.contents).toBeUndefined();
    const large = recordOf({ content: 'x'.repeat(300 * 1024), 'data_a/b': 'y'.repeat(5) });
    expect(large.event?.node).toMatchObject({ content: null, 'data_a/b': 'yyyyy' });
    expect(large.contents).toEqual([
      { at: '/event/node/content', sha256: expect.any(String) as string, size: 300 * 1024 + 5 },
    ]);
  });

  it('refers to smaller contents, the largest first, and to the whole event where JSON makes them too long', () => {
    // A control character is one byte in the log and six in JSON.
    const wide = (count: number): string => '\u0001'.repeat(count);
    const { event, contents } = recordOf({ content: wide(150_000), data_a: wide(120_000), data_b: 'b' });
    expect(contents).toMatchObject([{ at: '/event/node/content' }]);
    expect(event?.node).toMatchObject({ content: null, data_a: wide(120_000), data_b: 'b' });
    const none = recordOf({ unknown: wide(200_000) });
    expect(none.event).toBeNull();
    expect(none.contents).toMatchObject([{ at: '/event' }]);
  });
});
