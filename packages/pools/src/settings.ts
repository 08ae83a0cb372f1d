import type { WideJson } from '@stemma/canonical';
import { fail, issueText } from '@stemma/errors';
import { parseMind } from '@stemma/minds';
import { z } from 'zod';

/** How many messages of a pool anybody may sample from, and how many a sample may have. */
const MOST = 1_000_000;

/** What a round without another prompt is told, before its sample. */
const DEFAULT_PROMPT =
  'What follows are messages of a pool. Think as long as you like; then write a line that is only --- and what you want to add to the pool. More messages: another such line before each.';

const Settings = z.object({
  /** K: the messages that a round shows. */
  sample_size: z.int().min(1).max(10_000),
  /** M: samples are drawn from so many newest messages. */
  active_pool_size: z.int().min(1).max(MOST),
  /** What the samples of a branch follow from. */
  seed: z.int().min(0).max(0xffff_ffff),
  /** Who is asked, one after another: round r asks the one at (r - 1) modulo their number. */
  minds: z.array(z.string().min(1).max(1_000)).min(1).max(100),
  prompt: z.string().max(100_000),
  /** Further parameters of each request. */
  parameters: z.record(
    z.string(),
    z.custom<WideJson>(() => true),
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
  prompt: DEFAULT_PROMPT,
  parameters: {},
};

/** Their names: the keys of the configuration. */
const SETTING_NAMES = Object.keys(DEFAULT_SETTINGS) as readonly (keyof PoolSettings)[];

/**
 * The settings in a configuration.
 *
 * @throws E_NOT_A_POOL if it has none, E_CONFIG_INVALID, E_MIND_INVALID
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

/** @throws E_CONFIG_INVALID, E_MIND_INVALID */
export const checkSettings = (given: object): PoolSettings => {
  const read = Settings.safeParse(given);
  if (!read.success)
    throw fail('E_CONFIG_INVALID', issueText(read.error.issues, 'the configuration of a pool').sentence);
  for (const mind of read.data.minds) parseMind(mind);
  return read.data;
};
