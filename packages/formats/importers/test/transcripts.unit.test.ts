import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toOpenAIMessages } from '../src/openai-chat/to-openai-messages.ts';
import { record, sourceOf } from './in-memory.ts';

/** Real transcripts that lie beside a checkout of the project, where they do; they are not part of it. */
const folder = new URL('../../../../../shared/data/tau-airline/', import.meta.url);
const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];

describe('real transcripts', () => {
  if (files.length === 0)
    it('give each call the messages before it', ({ skip }) =>
      skip('no recorded transcripts lie beside the checkout; the property over all message lists stands in'));
  it.each(files)(
    '%s: every call was shown exactly the messages before it',
    { tags: ['context-tree§9:nothing-lost'] },
    async (name) => {
      const text = readFileSync(new URL(name, folder), 'utf8');
      const messages = JSON.parse(text) as { role: string }[];
      const [recorded] = await record(sourceOf(text));
      const calls = messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));
      expect(recorded?.cycles.map((tree) => toOpenAIMessages(tree, recorded.payloads))).toEqual(
        calls.map((end) => messages.slice(0, end)),
      );
      expect(recorded && toOpenAIMessages(recorded.working, recorded.payloads)).toEqual(messages);
      expect(recorded?.report).toMatchObject({ skipped: {}, unknown: {} });
    },
  );
});
