import type { WideJson } from '@stemma/canonical';
import { expect, test } from 'vitest';
import { FOREIGN } from '../../src/foreign/catalogue.ts';

const said = [{ role: 'user', content: 'How deep?' }];

/** The first value of a file of each format. */
const FIRST: Readonly<Record<string, WideJson>> = {
  otel: { resourceSpans: [] },
  langfuse: { id: 'o1', traceId: 't1', type: 'GENERATION', startTime: '2026-09-01T10:00:00Z', input: said },
  langsmith: { id: 'r1', trace_id: 't1', run_type: 'llm', inputs: { messages: said } },
  helicone: { request_id: 'r1', request_body: { messages: said }, response_body: {} },
  litellm: { id: 'r1', call_type: 'completion', startTime: 1, messages: said, response: {} },
  openrouter: { id: 'gen-1', model: 'm-1', tokens_prompt: 3, created_at: '2026-09-01T10:00:00Z' },
  'openrouter-chat': { version: 'orpg.3.0', messages: {}, items: {}, characters: {} },
};

test.each(Object.entries(FIRST))(
  'the first value of %s is recognised by its reader, and by no other',
  (name, first) => {
    expect(FOREIGN.filter(({ recognises }) => recognises(first)).map((reader) => reader.name)).toStrictEqual([
      name,
    ]);
  },
);

test('requests of APIs, messages and other values are recognised by none of them', () => {
  const readers = FOREIGN.filter(({ name }) => Object.hasOwn(FIRST, name));
  expect(readers).toHaveLength(Object.keys(FIRST).length);
  for (const value of [
    ...[null, 1, 'x', [], {}, said, { messages: said }, { model: 'm-1', input: said }, [{ messages: said }]],
    ...[{ data: [] }, { spans: [] }, { trace: null }, { id: 'x', type: 'message', content: [] }],
  ])
    expect(readers.filter(({ recognises }) => recognises(value)).map(({ name }) => name)).toStrictEqual([]);
});
