import { expect, test } from 'vitest';
import { harnessOf, withAddress } from '../src/harnesses.ts';

test.each([
  [['codex'], 'codex'],
  [['/usr/local/bin/codex.exe', 'exec'], 'codex'],
  [['npx', '-y', '@openai/codex@0.98.0', 'exec'], 'codex'],
  [['npx', '@google/gemini-cli'], 'gemini'],
  [['gemini', '-p', 'codex'], 'gemini'],
  [['claude'], undefined],
  [['python', 'codex.py'], undefined],
  [['npx'], undefined],
  [[], undefined],
])('%j is %s', (command, name) => {
  expect(harnessOf(command)?.names[0]).toBe(name);
});

test.each([
  [
    ['codex', 'exec', 'Hi'],
    ['codex', '-c', 'openai_base_url="http://x"', 'exec', 'Hi'],
  ],
  [
    ['npx', '-y', '@openai/codex', 'exec'],
    ['npx', '-y', '@openai/codex', '-c', 'openai_base_url="http://x"', 'exec'],
  ],
  [
    ['claude', '-p', 'Hi'],
    ['claude', '-p', 'Hi'],
  ],
])('%j is run as %j', (command, run) => {
  expect(withAddress(command, harnessOf(command), 'http://x')).toEqual(run);
});

test('codex with a login, and gemini, are intercepted', () => {
  expect(harnessOf(['codex'])?.isIntercepted?.({})).toBe(true);
  expect(harnessOf(['codex'])?.isIntercepted?.({ OPENAI_API_KEY: 'sk-1' })).toBe(false);
  expect(harnessOf(['gemini'])?.isIntercepted?.({ GEMINI_API_KEY: 'k' })).toBe(true);
});
