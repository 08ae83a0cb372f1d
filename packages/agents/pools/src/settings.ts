import { EMBEDDER } from '@stemma/analysis';
import type { WideJson } from '@stemma/canonical';
import { fail, issueText } from '@stemma/errors';
import { parseMind } from '@stemma/model-clients';
import { z } from 'zod';
import { embedderKind } from './embedder.ts';

/** How many messages of a pool anybody may sample from, and how many a sample may have. */
const MOST = 1_000_000;

/** What a round without another prompt is told, before its sample. */
const DEFAULT_PROMPT =
  'What follows are messages of a pool. Think as long as you like; then write a line that is only --- and what you want to add to the pool. More messages: another such line before each.';

/** A schema, and what its values are in words: every refusal says them. */
const count = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
};
const MINDS = 'must be a list of 1 to 100 minds, such as ["offline"]';
const PROMPT = 'must be a text of at most 100000 characters';

const EMBEDDERS = 'must name an embedder, such as "stemma-ngrams-1" or "openai:text-embedding-3-small"';

const Settings = z.object({
  /** K: the messages that a round shows. */
  sample_size: count(1, 10_000),
  /** M: samples are drawn from so many newest messages. */
  active_pool_size: count(1, MOST),
  /** What the samples of a branch follow from. */
  seed: count(0, 0xffff_ffff),
  /** Who is asked, one after another: round r asks the one at (r - 1) modulo their number. */
  minds: z
    .array(z.string({ error: MINDS }).min(1, { error: MINDS }).max(1_000, { error: MINDS }), { error: MINDS })
    .min(1, { error: MINDS })
    .max(100, { error: MINDS }),
  /** By whose vectors the pool is measured. Those of an endpoint are asked for when a text comes, and recorded. */
  embedder: z.string({ error: EMBEDDERS }).min(1, { error: EMBEDDERS }).max(512, { error: EMBEDDERS }),
  prompt: z.string({ error: PROMPT }).max(100_000, { error: PROMPT }),
  /** Further parameters of each request. */
  parameters: z.record(
    z.string(),
    z.custom<WideJson>(() => true),
    { error: 'must be an object, such as {"temperature":0.5}' },
  ),
});

/**
 * How a pool runs. It is the configuration of its branch: whoever changes it with `config` intervenes, and a fork begins with that of
 * its parent (pool: Runner).
 */
export type PoolSettings = z.infer<typeof Settings>;

/** What a pool has that says nothing else. */
export const DEFAULT_SETTINGS: PoolSettings = {
  sample_size: 5,
  active_pool_size: 100,
  seed: 1,
  minds: ['offline'],
  embedder: EMBEDDER,
  prompt: DEFAULT_PROMPT,
  parameters: {},
};

/** Their names: the keys of the configuration. */
const SETTING_NAMES = Object.keys(DEFAULT_SETTINGS) as readonly (keyof PoolSettings)[];

/**
 * The settings in a configuration.
 *
 * @throws E_NOT_A_POOL if it has none, E_CONFIG_INVALID, E_MIND_INVALID, E_EMBEDDER_INVALID
 */
export const settingsOf = (config: { readonly [key: string]: WideJson }, what: string): PoolSettings => {
  if (config['sample_size'] === undefined || config['active_pool_size'] === undefined)
    throw fail(
      'E_NOT_A_POOL',
      `${what} is no pool: its configuration names no sample_size and no active_pool_size`,
    );
  return checkSettings(
    Object.fromEntries(SETTING_NAMES.map((name) => [name, config[name] ?? DEFAULT_SETTINGS[name]])),
  );
};

/**
 * Checks what a configuration becomes, if it is that of a pool then: a setting that no round could run with is refused when it is
 * given. Null removes a key, and one that a pool has no default for ends it.
 *
 * @throws E_CONFIG_INVALID, E_MIND_INVALID, E_EMBEDDER_INVALID
 */
export const checkPoolChange = (
  config: { readonly [key: string]: WideJson },
  set: { readonly [key: string]: WideJson },
): void => {
  const changed = { ...config, ...set };
  if ((changed['sample_size'] ?? null) === null || (changed['active_pool_size'] ?? null) === null) return;
  settingsOf(changed, 'the branch');
};

/** @throws E_CONFIG_INVALID, E_MIND_INVALID, E_EMBEDDER_INVALID */
export const checkSettings = (given: object): PoolSettings => {
  const read = Settings.safeParse(given);
  if (!read.success)
    throw fail('E_CONFIG_INVALID', issueText(read.error.issues, 'the configuration of a pool').sentence);
  for (const mind of read.data.minds) parseMind(mind);
  embedderKind(read.data.embedder);
  return read.data;
};
