import { expect, test } from 'vitest';
import { hashOfSession, sessionInHeaders, sessionInParameters } from '../src/index.ts';

const ID = '0f9c1f2e-7a55-4c1e-9d10-1b2a3c4d5e6f';

test.each([
  [{ 'x-session-id': 's1' }, 's1'],
  [{ 'x-opencode-session': 'ses_1', 'x-session-id': 's1' }, 'ses_1'],
  [{ 'x-claude-code-session-id': ID, 'x-opencode-session': 'ses_1' }, ID],
  [{ session_id: ID }, ID],
  [{ 'x-session-affinity': ` ${ID} ` }, ID],
  [{ 'x-session-id': '' }, undefined],
  [{ 'x-session-id': 'x'.repeat(513) }, undefined],
  [{ authorization: 'Bearer s', cookie: 'session_id=1', 'x-api-key': 'k' }, undefined],
])('the headers %j name the session %j', { tags: ['calls§3.14'] }, (headers, session) => {
  expect(sessionInHeaders(headers)).toBe(session);
});

test.each([
  ['anthropic.messages', { metadata: { user_id: `user_1c_account_a-1_session_${ID}` } }, ID],
  ['anthropic.messages', { metadata: { user_id: JSON.stringify({ session_id: ID }) } }, ID],
  ['anthropic.messages', { metadata: { user_id: '{"device_id":"d"}' } }, '{"device_id":"d"}'],
  ['anthropic.messages', { metadata: { user_id: '{no json' } }, '{no json'],
  ['anthropic.messages', { metadata: { user_id: 'ann' } }, 'ann'],
  ['anthropic.messages', { metadata: { session_id: ID } }, undefined],
  ['openai.responses', { prompt_cache_key: ID }, ID],
  ['openai.responses', { prompt_cache_key: 'ses_5f1d0c2e9ffe' }, 'ses_5f1d0c2e9ffe'],
  ['openai.chat', { prompt_cache_key: 'support-v1' }, undefined],
  ['openai.chat', { metadata: { conversation_id: 'c1' }, prompt_cache_key: ID }, 'c1'],
  ['openai.chat', { metadata: { request_id: ID, step: '7' } }, undefined],
  ['openai.chat', { metadata: null, user: 'ann' }, undefined],
  ['other', { metadata: { thread_id: 't1' } }, 't1'],
] as const)('the parameters of %s %j name the session %j', (api, parameters, session) => {
  expect(sessionInParameters(api, parameters)).toBe(session);
});

test('of a session only half of a hash is kept', { tags: ['calls§3.14'] }, () => {
  expect(hashOfSession(ID)).toMatch(/^[0-9a-f]{32}$/);
});
