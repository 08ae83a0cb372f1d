import { expect, test } from 'vitest';
import { readProviderCall } from '../src/index.ts';
import { bytesOf } from './read-good.ts';

const asked = bytesOf({ model: 'e-1', input: 'the sea' });
const tokens = { cached: null, cacheWrite: null, reasoning: null };

test('a call without messages says its model and its tokens, as far as its bodies are JSON', () => {
  const usage = { prompt_tokens: 8, total_tokens: 8 };
  expect(readProviderCall(asked, bytesOf({ model: 'e-1-2026', usage }))).toEqual({
    model: 'e-1',
    usage: { ...tokens, input: 8, output: 0 },
    error: null,
  });
  const billed = { billed_units: { input_tokens: 3 } };
  expect(readProviderCall(bytesOf({}), bytesOf({ model: 'r-1', meta: billed }))).toEqual({
    model: 'r-1',
    usage: { ...tokens, input: 3, output: null },
    error: null,
  });
});

test('a failed one says why, and one whose bodies are something else says nothing', () => {
  const error = { message: 'too many', code: 'rate_limit' };
  expect(readProviderCall(asked, bytesOf({ error }))).toMatchObject({ usage: null, error });
  const nothing = { model: null, usage: null, error: null };
  for (const body of [null, new Uint8Array(), Uint8Array.of(255, 0), bytesOf([1])])
    expect(readProviderCall(body, body)).toEqual(nothing);
  expect(readProviderCall(null, bytesOf({ usage: { total_tokens: 'many' } }))).toEqual(nothing);
});
