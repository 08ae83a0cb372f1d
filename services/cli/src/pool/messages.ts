import { fail } from '@stemma/errors';
import type { PoolView, SampledMessage } from '@stemma/pools';
import type { CommandSpec, Context } from '../command.ts';
import { required, whole } from '../options.ts';
import { oneLine, printable, table } from '../output.ts';
import { titled, titleOf } from '../titles.ts';

const POSITION: readonly [syntax: string, description: string] = [
  '[ref]',
  'a position: @t-1 @c12 @s57 @name:NAME (default: as it is now)',
];
const POOL: readonly [syntax: string, description: string] = [
  '<history>',
  'a pool or branch of one, by id or name',
];

const FILTERS: CommandSpec['options'] = [
  ['--from <round>', 'messages that were added in this round or later'],
  ['--to <round>', 'messages that were added in this round or before'],
  ['--active', 'only those that a round may still show'],
  ['--limit <count>', 'at most so many, the newest (default: all)'],
];

/** The pool that a name and a position stand for. */
export const viewOf = async (context: Context, name: string, ref: string | undefined): Promise<PoolView> => {
  const { viewPool } = await import('@stemma/pools');
  const { home, branchRef } = await context.findBranch(name);
  return viewPool(home, branchRef, ref);
};

const filtered = (
  messages: readonly SampledMessage[],
  options: Readonly<Record<string, unknown>>,
): readonly SampledMessage[] => {
  const [from, to, limit] = [
    whole(options, 'from', { least: 0 }),
    whole(options, 'to', { least: 0 }),
    whole(options, 'limit', { least: 1 }),
  ];
  const found = messages.filter(
    ({ round, isActive }) =>
      (from === undefined || (round !== null && round >= from)) &&
      (to === undefined || (round !== null && round <= to)) &&
      (options['active'] !== true || isActive),
  );
  return limit === undefined ? found : found.slice(-limit);
};

/** A message, and how near it is to what was looked for. */
type Shown = SampledMessage & { readonly similarity?: number };

const documentOf = ({
  id,
  vectorId,
  round,
  mindId,
  source,
  intervention,
  text,
  sampled,
  isActive,
  similarity,
}: Shown) => ({
  id,
  vector_id: vectorId,
  round,
  mind_id: mindId,
  source,
  intervention,
  sampled,
  active: isActive,
  ...(similarity === undefined ? {} : { similarity }),
  text,
});

const printMessages = async ({ output }: Context, messages: readonly Shown[]): Promise<void> => {
  const isNear = messages.some(({ similarity }) => similarity !== undefined);
  await output.result(messages.map(documentOf), () =>
    messages.length === 0
      ? 'no messages\n'
      : table(
          ['#', 'ROUND', 'FROM', 'SHOWN', ...(isNear ? ['NEAR'] : []), 'TEXT'],
          messages.map(({ vectorId, round, mindId, source, sampled, similarity, text }) => [
            String(vectorId ?? '-'),
            String(round ?? '-'),
            mindId >= 0 ? `mind ${mindId}` : printable(source),
            String(sampled),
            ...(isNear ? [(similarity ?? 0).toFixed(2)] : []),
            oneLine(text, 200),
          ]),
          output.width,
        ),
  );
};

export const poolMessages: CommandSpec = {
  name: 'messages',
  summary: 'list the messages of a pool, the oldest first, with how often each was shown',
  arguments: [POOL, POSITION],
  options: FILTERS,
  run: async (context, [name, ref], options) => {
    const { messages } = await viewOf(context, required(name), ref as string | undefined);
    await printMessages(context, filtered(messages, options));
    return undefined;
  },
};

export const poolSearch: CommandSpec = {
  name: 'search',
  summary: 'list the messages of a pool that have all the words, or those nearest to a text',
  arguments: [POOL, ['<words...>', 'the words, upper and lower case alike; with --like, the text']],
  options: [
    ...FILTERS.filter(([syntax]) => !syntax.startsWith('--limit')),
    ['--like', 'the nearest first, by the cosine of their embeddings (built in: hashed words and letters)'],
    [
      '--limit <count>',
      'at most so many: of words the newest, with --like the nearest (default: all, and 10)',
    ],
  ],
  run: async (context, [name, words], options) => {
    const asked = Array.isArray(words) ? (words as readonly string[]).join(' ') : required(words);
    // A script's empty variable is no question: every message has no words.
    if (asked.trim() === '') throw fail('E_USAGE', 'the words are empty: say what the messages are to have');
    const { messages, position } = await viewOf(context, required(name), undefined);
    if (options['like'] === true) {
      const most = whole(options, 'limit', { least: 1 }) ?? 10;
      const { home } = await context.findBranch(required(name));
      const vectors = new Map(
        (await home.pools.embedded(position)).map(({ node, vector }) => [node, vector] as const),
      );
      const wanted = filtered(messages, { ...options, limit: undefined });
      await printMessages(context, await nearest(wanted, vectors, asked, most));
      return undefined;
    }
    const wanted = asked
      .split(/\s+/)
      .filter((word) => word !== '')
      .map(folded);
    const found = messages.filter(({ text }) => {
      const said = folded(text);
      return wanted.every((word) => said.includes(word));
    });
    await printMessages(context, filtered(found, options));
    return undefined;
  },
};

/** The messages nearest to a text, the nearest first, with how near they are. @param vectors by node */
const nearest = async (
  messages: readonly SampledMessage[],
  vectors: ReadonlyMap<string, Float32Array>,
  text: string,
  most: number,
): Promise<readonly (SampledMessage & { readonly similarity: number })[]> => {
  const { cosineIndex, embedText, EMBEDDING_DIMENSION, nearestRows } = await import('@stemma/analysis');
  const embedded = messages.filter(({ id }) => vectors.has(id));
  if (embedded.length === 0) return [];
  const values = new Float32Array(embedded.length * EMBEDDING_DIMENSION);
  for (const [i, { id }] of embedded.entries()) values.set(vectors.get(id) ?? [], i * EMBEDDING_DIMENSION);
  const index = cosineIndex(values, EMBEDDING_DIMENSION);
  return nearestRows(index, embedText(text), Math.min(most, embedded.length)).map(({ row, similarity }) => ({
    ...(embedded[row] as SampledMessage),
    similarity,
  }));
};

const folded = (text: string): string => text.normalize('NFKC').toLowerCase();

/** `pool <history> [ref]`: what a pool is, and how far it is. */
export const poolStatus: CommandSpec['run'] = async (context, [name, ref]) => {
  const { position, round, settings, messages } = await viewOf(
    context,
    required(name),
    ref as string | undefined,
  );
  const active = messages.filter(({ isActive }) => isActive);
  const injected = messages.filter(({ intervention }) => intervention !== null);
  const never = active.filter(({ sampled }) => sampled === 0).length;
  const { history, branch, branchId, label } = position;
  const title = await titleOf(await context.home(), history);
  await context.output.result(
    {
      history,
      branch,
      branchId,
      position: label,
      round,
      messages: messages.length,
      active: active.length,
      injected: injected.length,
      never_shown: never,
      settings,
    },
    () =>
      [
        ['branch', `${printable(titled(branch, history, title))} at ${label}`],
        ['round', String(round)],
        ['messages', `${messages.length}, ${active.length} of them active, ${injected.length} injected`],
        ['never shown', `${never} of the active ones`],
        ['sample', `${settings.sample_size} of ${settings.active_pool_size}, seed ${settings.seed}`],
        ['minds', settings.minds.map(printable).join(', ')],
        ['prompt', oneLine(settings.prompt, context.output.width - 14)],
      ]
        .map(([what = '', value = '']) => `${what.padEnd(12)}  ${value}\n`)
        .join(''),
  );
  return undefined;
};

export const POOL_ARGUMENTS = [POOL, POSITION] as const;
