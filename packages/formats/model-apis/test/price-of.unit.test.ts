import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priceOf, readAnswer, readPrices, type PriceTable, type TokenUsage } from '../src/index.ts';

const table = (models: object, currency = 'USD'): string => JSON.stringify({ currency, models });
const good = (models: object): PriceTable => {
  const read = readPrices(table(models));
  if (!read.ok) throw new Error(read.reason);
  return read.prices;
};
const prices = good({
  'gpt-4o': { input: '2.50', output: '10.00', cached: 1.25 },
  'gpt-4o*': { input: 3, output: 12 },
  'gpt-4o-mini*': { input: '0.15', output: '0.6', cached: '0.075' },
  'claude-*': { input: '3', output: '15', cached: '0.30', cache_write: '3.75' },
  free: { input: 0, output: 0 },
});
const usage = (input: number | null, output: number | null, rest: Partial<TokenUsage> = {}): TokenUsage => ({
  ...{ input, output, cached: null, cacheWrite: null, reasoning: null },
  ...rest,
});
const amount = (model: string | null, tokens: TokenUsage | null) =>
  priceOf(prices, model, tokens)?.amount ?? null;

describe('the price of a call', () => {
  it('is exact, and has a currency', () => {
    expect(priceOf(prices, 'gpt-4o', usage(1_000_003, 1))).toEqual({ amount: '2.5000175', currency: 'USD' });
    expect(amount('claude-opus', usage(3210, 50, { cached: 3000, cacheWrite: 200 }))).toBe('0.00243');
    expect(amount('gpt-4o', usage(10, 0, { cached: 10, reasoning: 5 }))).toBe('0.0000125');
    expect(amount('gpt-4o', usage(2 ** 53 - 1, 0))).toBe('22517998136.8524775');
    expect(amount('free', usage(7, 7))).toBe('0');
    expect(amount('gpt-4o', usage(400_000, 100_000))).toBe('2');
  });

  it('has a price for what is written to a cache for an hour, if there is one', () => {
    const [gpt, claude] = [
      {
        choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
        usage: {
          ...{ prompt_tokens: 17_903, completion_tokens: 100, total_tokens: 18_003 },
          prompt_tokens_details: { cached_tokens: 17_817 },
          completion_tokens_details: { reasoning_tokens: 40 },
        },
      },
      {
        content: [{ type: 'text', text: 'ok' }],
        usage: {
          ...{ input_tokens: 5, cache_read_input_tokens: 128_955, cache_creation_input_tokens: 1253 },
          cache_creation: { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 253 },
          output_tokens: 503,
        },
      },
    ].map((body, i) => {
      const head = { status: 200, contentType: 'application/json' };
      const api = i === 0 ? 'openai.chat' : 'anthropic.messages';
      return readAnswer(api, head, Buffer.from(JSON.stringify(body))).usage;
    });
    const rates = { input: '4', output: '20', cached: '0.4', cache_write: '5' };
    const cost = (model: object, tokens: TokenUsage | null | undefined) =>
      priceOf(good({ m: model }), 'm', tokens ?? null)?.amount;
    expect(cost({ input: '2', output: '10', cached: '1' }, gpt)).toBe('0.018989');
    expect(cost(rates, claude)).toBe('0.067927');
    expect(cost({ ...rates, cache_write_1h: '8' }, claude)).toBe('0.068686');
    expect(cost({ ...rates, cache_write_1h: '8' }, usage(9, 1, { cacheWrite: 2, cacheWrite1h: 3 }))).toBe(
      undefined,
    );
  });

  it('is that of exactly the model, or of the longest beginning of its name', () => {
    expect(amount('gpt-4o', usage(1_000_000, 0))).toBe('2.5');
    expect(amount('gpt-4o-2024-11-20', usage(1_000_000, 0))).toBe('3');
    expect(amount('gpt-4o-mini-2024-07-18', usage(1_000_000, 0))).toBe('0.15');
  });

  it.each<[string, string | null, TokenUsage | null]>([
    ['the model', 'gpt-5', usage(1, 1)],
    ['the model, which has the name of a field of every object', 'toString', usage(1, 1)],
    ['which model it is', null, usage(1, 1)],
    ['the usage', 'gpt-4o', null],
    ['the input', 'gpt-4o', usage(null, 1)],
    ['the output', 'gpt-4o', usage(1, null)],
    ['the rate of the cache', 'gpt-4o-2024-11-20', usage(10, 1, { cached: 1 })],
    ['the rate of writing to the cache', 'gpt-4o', usage(10, 1, { cacheWrite: 1 })],
    ['how there is more in the cache than came in', 'gpt-4o', usage(1, 1, { cached: 2 })],
  ])('is not known if nobody knows %s', (_what, model, tokens) => {
    expect(priceOf(prices, model, tokens)).toBeNull();
  });

  it('of several calls adds up: no digit is lost', () => {
    const tokens = fc.nat({ max: 1_000_000_000 });
    const rate = fc.tuple(fc.nat({ max: 9999 }), fc.nat({ max: 999_999 }));
    fc.assert(
      fc.property(tokens, tokens, rate, rate, (input, output, ...rates) => {
        const [first, second] = rates.map(([whole, rest]) => `${whole}.${String(rest).padStart(6, '0')}`);
        const { amount: got = '' } =
          priceOf(good({ m: { input: first, output: second } }), 'm', usage(input, output)) ?? {};
        const [a, b] = rates.map(([whole, rest]) => BigInt(whole) * 1_000_000n + BigInt(rest));
        const [whole = '', rest = ''] = got.split('.');
        expect(BigInt(whole + rest.padEnd(12, '0'))).toBe(
          BigInt(input) * (a ?? 0n) + BigInt(output) * (b ?? 0n),
        );
      }),
    );
  });
});

it.each<[string, string, string]>([
  ['is no JSON', 'prices', 'E_INPUT_NOT_JSON'],
  ['has no models', '{"currency":"USD"}', 'E_INPUT_SHAPE'],
  ['has no currency', table({}, 'dollars'), 'E_INPUT_SHAPE'],
  ['has a negative rate', table({ m: { input: -1, output: 1 } }), 'E_INPUT_SHAPE'],
  ['has a rate with an exponent', table({ m: { input: '1e-7', output: 1 } }), 'E_INPUT_SHAPE'],
  [
    'has a rate with too many digits',
    table({ m: { input: '0.1234567890123456', output: 1 } }),
    'E_INPUT_SHAPE',
  ],
  ['lacks a rate', table({ m: { input: 1 } }), 'E_INPUT_SHAPE'],
  ['has a rate for something else', table({ m: { input: 1, output: 1, images: 1 } }), 'E_INPUT_SHAPE'],
  ['has a star within a name', table({ 'gpt-*-mini': { input: 1, output: 1 } }), 'E_INPUT_SHAPE'],
])('a price table that %s is refused with a code', (_what, text, code) => {
  expect(readPrices(text)).toEqual({ ok: false, code, reason: expect.any(String) });
});
