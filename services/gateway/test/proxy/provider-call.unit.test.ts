import { expect, test } from 'vitest';
import { isRecordedRequest } from '../../src/proxy/provider-call.ts';

test.each([
  ['POST', '/v1/embeddings', true],
  ['POST', '/api/embed', true],
  ['DELETE', '/v1/files/file-1', true],
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
  ['POST', '/api/event_logging/v2/batch', false],
  ['POST', '/api/eval/sdk-1', false],
  ['POST', '/mcp-registry/v0/servers', false],
  ['POST', '/openai/deployments/d/embeddings', true],
])('%s %s is recorded: %s', (method, path, isRecorded) => {
  expect(isRecordedRequest(method, path)).toBe(isRecorded);
});
