import { expect, test } from 'vitest';
import { isReadEntry, openReadHosts, originOf } from '../../src/intercept/read-hosts.ts';

const named = {
  hosts: ['models.example', '*.corp.example:8443'],
  addresses: ['http://localhost:9000/v1', 'not an address'],
  upstreams: {
    openai: new URL('http://127.0.0.1:1/up'),
    azure: new URL('http://127.0.0.1:2'),
    ollama: new URL('http://127.0.0.1:3'),
  },
  elsewhere: {
    'there.example': new URL('http://127.0.0.1:4/base/'),
    'other.example:81': new URL('http://127.0.0.1:5'),
  },
};
const hosts = openReadHosts(named);

test.each([
  ['https://api.openai.com', true],
  ['https://api.openai.com:8443', true],
  ['https://api.openai.com.evil.example', false],
  ['https://notapi.openai.com', false],
  ['https://me.openai.azure.com', true],
  ['https://europe-west4-aiplatform.googleapis.com', true],
  ['https://-aiplatform.googleapis.com', false],
  ['https://bedrock-runtime.eu-central-1.amazonaws.com', true],
  ['https://s3.amazonaws.com', false],
  ['https://models.example', true],
  ['https://a.corp.example:8443', true],
  ['https://a.corp.example', false],
  ['http://127.0.0.1:9000', true],
  ['http://127.0.0.1:9001', false],
  ['http://127.0.0.1:11434', true],
  ['http://[::1]:11434', true],
  ['http://127.0.0.1:1', true],
  ['https://there.example:444', true],
  ['http://other.example', false],
  ['http://other.example:81', true],
  ['https://github.com', false],
])('%s is read: %s', (address, isRead) => {
  expect(hosts.isRead(originOf(new URL(address)))).toBe(isRead);
});

test.each([
  ['https://api.openai.com', '/v1/chat/completions?a=1', 'http://127.0.0.1:1/up/chat/completions?a=1'],
  ['https://api.openai.com', '/v1beta/x', 'http://127.0.0.1:1/up/v1beta/x'],
  ['https://me.openai.azure.com', '/openai/deployments/d/x', 'http://127.0.0.1:2/openai/deployments/d/x'],
  ['http://localhost:11434', '/api/chat', 'http://127.0.0.1:3/api/chat'],
  ['https://api.anthropic.com', '/messages', 'https://api.anthropic.com/messages'],
  ['https://there.example', '/v1/x', 'http://127.0.0.1:4/base/v1/x'],
  ['http://localhost:9000', '/v1/x', 'http://localhost:9000/v1/x'],
])('of %s, %s really is %s', (address, path, there) => {
  const { upstream, target } = hosts.routeOf(originOf(new URL(address)), path);
  expect(upstream.origin + target).toBe(there);
});

test.each([
  ['*', true],
  ['127.0.0.1', true],
  ['127.0.0.0/8', true],
  ['localhost', true],
  ['.openai.com', true],
  ['openai.com', true],
  ['models.example:443', true],
  ['.corp.internal', false],
  ['192.168.0.0/16', false],
])('an entry %s of NO_PROXY is taken out: %s', (entry, isRead) => {
  expect(isReadEntry(entry, named)).toBe(isRead);
});
