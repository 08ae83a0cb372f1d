import { parseWideJson } from '@stemma/canonical';
import { fail, issueText } from '@stemma/errors';
import { amountOf, unitsOf } from '@stemma/values';
import { z } from 'zod';
import type { TokenUsage } from './answer.ts';
import { guarded, type UnreadableBody } from './body.ts';

/** A price of a million tokens: a decimal number without a sign or an exponent, as a text or a JSON number. */
const Rate = z
  .union([z.string(), z.number().transform(String)])
  .refine((rate) => /^\d{1,15}(\.\d{1,15})?$/.test(rate), 'a price is a decimal number such as 2.50');

const ModelPrices = z.strictObject({
  input: Rate,
  output: Rate,
  /** Of input that is read from a cache. */
  cached: Rate.optional(),
  /** Of input that is written to a cache. */
  cache_write: Rate.optional(),
  /** Of input that is written to a cache for an hour; unless said, that of `cache_write`. */
  cache_write_1h: Rate.optional(),
});
type ModelPrices = z.infer<typeof ModelPrices>;

const PriceTable = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'a currency has three letters, such as USD'),
  /** By the name of a model, or the beginning of one and `*`. */
  models: z.record(z.string().regex(/^[^*]*\*?$/, 'only the last character of a name may be *'), ModelPrices),
});

/** What a million tokens cost, by model. */
export type PriceTable = z.infer<typeof PriceTable>;

/** The price table that a JSON text holds, or why it is none. */
export const readPrices = (
  text: string,
): { readonly ok: true; readonly prices: PriceTable } | UnreadableBody =>
  guarded(() => {
    const { data, error } = PriceTable.safeParse(parseWideJson(text, 'the price table'));
    if (data === undefined) throw fail('E_INPUT_SHAPE', issueText(error.issues, 'the price table').sentence);
    return { ok: true, prices: data };
  });

/** What a call costs: an exact decimal number, and the currency. */
export type CallPrice = { readonly amount: string; readonly currency: string };

/**
 * What a call costs; null if its model or its tokens are not known, or a rate that it needs. Never a guess: only tokens
 * of a cache that the API does not mention count as none.
 */
export const priceOf = (
  prices: PriceTable,
  model: string | null,
  usage: TokenUsage | null,
): CallPrice | null => {
  const rates = model === null ? null : ratesOf(prices, model);
  if (rates === null || usage === null || usage.input === null || usage.output === null) return null;
  const cached = usage.cached ?? 0;
  const cacheWrite = usage.cacheWrite ?? 0;
  const forHour = usage.cacheWrite1h ?? 0;
  const fresh = usage.input - cached - cacheWrite;
  if (fresh < 0 || forHour > cacheWrite) return null;
  const costs = [
    costOf(fresh, rates.input),
    costOf(usage.output, rates.output),
    costOf(cached, rates.cached),
    costOf(cacheWrite - forHour, rates.cache_write),
    costOf(forHour, rates.cache_write_1h ?? rates.cache_write),
  ];
  let total = 0n;
  for (const cost of costs) {
    if (cost === null) return null;
    total += cost;
  }
  return { amount: amountOf(total), currency: prices.currency };
};

/** The rates of exactly this model, or else those of the longest beginning of its name. */
const ratesOf = ({ models }: PriceTable, model: string): ModelPrices | null => {
  if (Object.hasOwn(models, model)) return models[model] as ModelPrices;
  let longest: string | null = null;
  for (const name of Object.keys(models))
    if (name.endsWith('*') && model.startsWith(name.slice(0, -1)) && name.length > (longest?.length ?? 0))
      longest = name;
  return longest === null ? null : (models[longest] as ModelPrices);
};

/**
 * What calls cost together; null if there are none, or the price of one is not known, or is in another currency.
 */
export const sumOfPrices = (prices: readonly (CallPrice | null)[]): CallPrice | null => {
  const [first] = prices;
  if (first === undefined || first === null) return null;
  let total = 0n;
  for (const price of prices) {
    if (price?.currency !== first.currency) return null;
    total += unitsOf(price.amount);
  }
  return { amount: amountOf(total), currency: first.currency };
};

/** Digits behind the point of a rate; a price is of a million tokens, so that of one token has six more. */
const RATE_DIGITS = 15;

/** The cost in units of 10^-21; null if there are tokens and no rate. */
const costOf = (tokens: number, rate: string | undefined): bigint | null => {
  if (tokens === 0) return 0n;
  if (rate === undefined) return null;
  const [whole = '', fraction = ''] = rate.split('.');
  return BigInt(tokens) * BigInt(whole + fraction.padEnd(RATE_DIGITS, '0'));
};
