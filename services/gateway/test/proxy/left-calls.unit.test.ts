import { expect, test } from 'vitest';
import type { Waiting } from '../../src/proxy/entry.ts';
import { leftCalls } from '../../src/proxy/left-over.ts';
import { isRecordedRequest, providerCallId } from '../../src/proxy/provider-call.ts';

const entry = (kind: Waiting['kind'], id: string): Waiting => ({
  kind,
  id,
  ref: { bytes: new Uint8Array() },
});

test('a call without messages is recorded whole, whatever began between its start and its end', () => {
  const id = providerCallId('1');
  const [start, end] = [entry('started', id), entry('ended', id)];
  const [chat, chatEnd] = [entry('started', 'call-1'), entry('ended', 'call-1')];
  expect(leftCalls([start, chat, end, chatEnd])).toEqual([
    { start, end },
    { start: chat, end: chatEnd },
  ]);
  expect(leftCalls([start, chat])).toEqual([{ start }, { start: chat }]);
});

test.each([
  ['POST', '/v1/embeddings', true],
  ['DELETE', '/v1/files/f-1', true],
  ['PATCH', '/v1/sessions/1', true],
  ['GET', '/v1/models', false],
  ['HEAD', '/', false],
  ['OPTIONS', '/v1/embeddings', false],
  ['POST', '/v1/oauth/token', false],
  ['POST', '/v1/realtime/client_secrets', false],
  ['POST', '/v1/realtime/sessions', false],
  ['POST', '/v1/organization/admin_api_keys', false],
  ['POST', '/v1/messages/count_tokens', true],
])('%s %s is recorded: %s', (method, path, isRecorded) => {
  expect(isRecordedRequest(method, path)).toBe(isRecorded);
});
