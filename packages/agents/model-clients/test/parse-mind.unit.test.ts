import { expect, test } from 'vitest';
import { endpointOf, pathOf } from '../src/endpoint.ts';
import { parseMind, type MindName } from '../src/index.ts';

test.each([
  ['openai:gpt-x', 'openai.chat', 'gpt-x', null],
  ['openai.responses:gpt-x@https://a.example/v1', 'openai.responses', 'gpt-x', 'https://a.example/v1'],
  ['anthropic:claude@2026@http://127.0.0.1:8', 'anthropic.messages', 'claude@2026', 'http://127.0.0.1:8/'],
  ['openai:vendor/model:free', 'openai.chat', 'vendor/model:free', null],
  ['openai:claude@20260101', 'openai.chat', 'claude@20260101', null],
])('%s names an API, a model and an address', { tags: ['calls§6.8'] }, (spec, api, model, url) => {
  const name = parseMind(spec) as Extract<MindName, { kind: 'remote' }>;
  expect([name.api, name.model, name.url?.href ?? null]).toEqual([api, model, url]);
});

test.each([
  '',
  'gpt-x',
  'openai:',
  'openai:a b',
  'mistral:x',
  'offline:x',
  'openai:m@https://user:secret@a.example/v1',
  'openai:m@https://a.example/v1?key=1',
  // Addresses without a scheme: the key would go to the default one.
  'openai:m@localhost:11434/v1',
  'openai:m@a.example/v1',
  'openai:m@10.0.0.1:8000',
  'openai:m@notaurl',
  `openai:${'m'.repeat(257)}`,
])('%j names no mind', (spec) => {
  expect(() => parseMind(spec)).toThrow(expect.objectContaining({ code: 'E_MIND_INVALID' }));
});

const endpoint = (spec: string, env: Record<string, string>) => {
  const name = parseMind(spec) as Extract<MindName, { kind: 'remote' }>;
  return endpointOf({ ...name, path: pathOf(name.api, name.model) }, env);
};

test(
  'the environment says where a mind is and which key it takes, and no key goes over an open line',
  { tags: ['calls§6.8'] },
  () => {
    const key = { OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'sk-2' };
    expect(endpoint('openai:m', key).url.href).toBe('https://api.openai.com/v1/chat/completions');
    expect(endpoint('anthropic:m', key).url.href).toBe('https://api.anthropic.com/v1/messages');
    expect(endpoint('anthropic:m', key).headers).toEqual({
      'anthropic-version': '2023-06-01',
      'x-api-key': 'sk-2',
    });
    expect(endpoint('openai:m', { ...key, OPENAI_BASE_URL: 'http://localhost:1/v1/' }).url.href).toBe(
      'http://localhost:1/v1/chat/completions',
    );
    expect(endpoint('openai:m', { ...key, STEMMA_OPENAI_API_KEY: 'sk-3' }).headers).toEqual({
      authorization: 'Bearer sk-3',
    });
    expect(endpoint('openai:m@http://10.1.2.3/v1', {}).headers).toEqual({});
    const refused = (code: string) => expect.objectContaining({ code }) as Error;
    expect(() => endpoint('openai:m', {})).toThrow(refused('E_MIND_KEY_MISSING'));
    expect(() => endpoint('openai:m@http://10.1.2.3/v1', { STEMMA_OPENAI_API_KEY: 'k' })).toThrow(
      refused('E_MIND_INVALID'),
    );
    expect(() => endpoint('openai:m', { ...key, OPENAI_BASE_URL: 'http://10.1.2.3/v1' })).toThrow(
      refused('E_MIND_INVALID'),
    );
    expect(() => endpoint('openai:m', { ...key, OPENAI_BASE_URL: 'ftp://x' })).toThrow(
      refused('E_MIND_INVALID'),
    );
  },
);

test(
  'the key of a provider goes to its own host, and where the environment says that its API is, alone',
  { tags: ['calls§6.8'] },
  () => {
    const env = { OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'sk-2' };
    const sent = (spec: string, more: Record<string, string> = {}): string | null =>
      endpoint(spec, { ...env, ...more }).key;
    expect(sent('openai:m@https://api.openai.com/v1')).toBe('sk-1');
    for (const at of ['http://127.0.0.1:8000/v1', 'https://a.example/v1', 'https://api.openai.com:8443/v1']) {
      expect(sent(`openai:m@${at}`)).toBeNull();
      expect(endpoint(`openai:m@${at}`, env).withheld).toMatch(/^OPENAI_API_KEY was not sent/);
      expect(endpoint(`openai:m@${at}`, env).headers).toEqual({});
      expect(sent(`openai.responses:m@${at}`)).toBeNull();
      expect(sent(`anthropic:m@${at}`)).toBeNull();
      expect(sent(`openai:m@${at}`, { STEMMA_OPENAI_API_KEY: 'sk-3' })).toBe('sk-3');
    }
    expect(sent('openai:m@http://10.1.2.3/v1')).toBeNull();
    for (const name of ['OPENAI_BASE_URL', 'STEMMA_UPSTREAM_OPENAI']) {
      expect(sent('openai:m', { [name]: 'https://a.example/v1' })).toBe('sk-1');
      expect(sent('openai:m@https://a.example/v2', { [name]: 'https://a.example/v1' })).toBe('sk-1');
      expect(sent('openai:m@https://b.example/v1', { [name]: 'https://a.example/v1' })).toBeNull();
    }
  },
);
