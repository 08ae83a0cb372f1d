import type { WideJsonObject } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { expect, test } from 'vitest';
import { messagesFor, mindNames, providerNames, readRequest, jsonText } from '../src/index.ts';

const MESSAGES = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hello' },
];

test('of openai the messages are the list itself', () => {
  expect(messagesFor('openai', MESSAGES)).toEqual(MESSAGES);
});

test('of another provider they are the fields of a request', () => {
  expect(messagesFor('anthropic', MESSAGES)).toEqual({
    system: 'Be brief.',
    messages: [{ role: 'user', content: 'Hello' }],
  });
});

test.each(providerNames().filter((name) => name !== 'openai'))(
  'what is written for %s is read as these messages',
  (name) => {
    const api = mindNames().get(name);
    if (api === undefined) throw new Error(name);
    // What models of Bedrock are asked with is told apart by it.
    const version = name === 'bedrock.invoke' ? { anthropic_version: 'bedrock-2023-05-31' } : {};
    const fields = messagesFor(name, MESSAGES) as WideJsonObject;
    const body = new TextEncoder().encode(jsonText({ ...version, ...fields }));
    const request = readRequest(api, body);
    expect(JSON.stringify(request)).toContain('Be brief.');
    expect(JSON.stringify(request)).toContain('Hello');
  },
);

test('a provider that is not known is refused with those that are', () => {
  try {
    messagesFor('nobody', MESSAGES);
    expect.unreachable();
  } catch (error) {
    expect(isStemmaError(error, 'E_USAGE')).toBe(true);
    expect(String(error)).toContain('anthropic');
  }
});
