import type { WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Author } from '@stemma/events';
import { historyId, type Step } from '@stemma/history';
import { branchRefOf } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { embedderKind, embedWith, type EmbeddingOptions } from './embedder.ts';
import { missingVectors, recordVectors, textHashOf, type TextVector } from './record-vectors.ts';
import { checkSettings, DEFAULT_SETTINGS, type PoolSettings } from './settings.ts';

/** A pool that begins. */
export type NewPool = {
  /** The id of the command that starts it; given again, nothing happens twice. */
  readonly id: string;
  readonly name: string | null;
  readonly by: Author;
  readonly notes?: string;
  /** The messages of round 0. */
  readonly messages: readonly string[];
  /** What every round shows first. */
  readonly system?: string;
  readonly settings?: Partial<PoolSettings>;
} & EmbeddingOptions;

/**
 * Starts a history that is a pool, with its configuration and its first messages (pool: One model). If its embedder is an endpoint, their
 * vectors are asked for before anything is recorded, so that nothing is if they do not come.
 *
 * @throws E_CONFIG_INVALID, E_MIND_INVALID, E_EMBEDDER_INVALID, E_USAGE for an empty message, what the endpoint of an embedder and
 * `submit` throw
 */
export const startPool = async (
  home: Pick<Home, 'submit' | 'queries' | 'read'>,
  { id, name, by, notes, messages, system, settings = {}, ...options }: NewPool,
): Promise<{ readonly history: string; readonly seq: number; readonly repeated: boolean }> => {
  const config = checkSettings({ ...DEFAULT_SETTINGS, ...settings });
  const empty = messages.findIndex((text) => text.trim() === '');
  if (empty >= 0) throw fail('E_USAGE', `message ${empty + 1} of the pool is empty`);
  const history = historyId(name, id);
  const isKnown = (await home.read.findCommand(history, id)) !== undefined;
  const early = isKnown ? null : await firstVectors(config.embedder, messages, options);
  const why = notes === undefined ? {} : { notes };
  const begun = await home.submit({
    id,
    history,
    branchId: 0,
    by,
    ...why,
    steps: [{ op: 'start', name, thread: 'pre' }],
  });
  const first: Step[] = [{ op: 'config', set: config as unknown as { readonly [key: string]: WideJson } }];
  const filled = await home.submit({
    id: `${id}.configuration`,
    history,
    branchId: 0,
    by,
    ...why,
    steps: first,
  });
  const blocks: Step[] = [
    ...(system === undefined || system === ''
      ? []
      : [block('^sys', { role: 'system', kind: 'text', content: system })]),
    ...messages.map((content, i) =>
      block('^ah', {
        role: 'user',
        kind: 'text',
        content,
        data_vector_id: i,
        data_round: 0,
        data_mind_id: -1,
        data_source: 'seed',
      }),
    ),
  ];
  if (blocks.length === 0) return { history, seq: filled.seq, repeated: begun.repeated };
  const { seq } = await home.submit({
    id: `${id}.messages`,
    history,
    branchId: 0,
    by,
    ...why,
    steps: blocks,
  });
  const vectors = early ?? (await missingVectors(home, history, config.embedder, messages, options));
  const { embedder } = config;
  const recorded = await recordVectors(home, branchRefOf(history, 0), { id, by, notes, embedder, vectors });
  return { history, seq: recorded ?? seq, repeated: begun.repeated };
};

/** The vectors of the first messages of a pool that does not exist yet. */
const firstVectors = async (
  embedder: string,
  messages: readonly string[],
  options: EmbeddingOptions,
): Promise<readonly TextVector[]> => {
  if (embedderKind(embedder) !== 'endpoint') return [];
  const texts = [...new Set(messages)];
  const made = await embedWith(embedder, texts, null, options);
  return texts.map((text, i) => ({ textHash: textHashOf(text), vector: made[i] as Float32Array }));
};

const block = (parent: string, node: { readonly [name: string]: WideJson }): Step => ({
  op: 'insert',
  parent,
  node: { nodeType: 'cb', offset: 0, ...node },
});
