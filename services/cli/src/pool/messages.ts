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

const filtered = async (
  messages: readonly SampledMessage[],
  options: Readonly<Record<string, unknown>>,
): Promise<readonly SampledMessage[]> => {
  const { filterMessages } = await import('@stemma/pools');
  const limit = whole(options, 'limit', { least: 1 });
  const found = filterMessages(messages, {
    from: whole(options, 'from', { least: 0 }),
    to: whole(options, 'to', { least: 0 }),
    active: options['active'] === true,
  });
  return limit === undefined ? found : found.slice(-limit);
};

/** A message, and how near it is to what was looked for. */
type Shown = SampledMessage & { readonly similarity?: number };

const printMessages = async ({ output }: Context, messages: readonly Shown[]): Promise<void> => {
  const { messageDocument } = await import('@stemma/pools');
  const isNear = messages.some(({ similarity }) => similarity !== undefined);
  await output.result(messages.map(messageDocument), () =>
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
    await printMessages(context, await filtered(messages, options));
    return undefined;
  },
};

export const poolSearch: CommandSpec = {
  name: 'search',
  summary: 'list the messages of a pool that have all the words, or those nearest to a text',
  arguments: [POOL, ['<words...>', 'the words, upper and lower case alike; with --like, the text']],
  options: [
    ...FILTERS.filter(([syntax]) => !syntax.startsWith('--limit')),
    [
      '--like',
      'the nearest first, by the cosine of their embeddings (built in: hashed words and letters; an endpoint is asked for the vector of the text)',
    ],
    [
      '--limit <count>',
      'at most so many: of words the newest, with --like the nearest (default: all, and 10)',
    ],
  ],
  run: async (context, [name, words], options) => {
    const asked = Array.isArray(words) ? (words as readonly string[]).join(' ') : required(words);
    const { messagesNear, messagesWithWords } = await import('@stemma/pools');
    const view = await viewOf(context, required(name), undefined);
    const { messages } = view;
    if (options['like'] === true) {
      const most = whole(options, 'limit', { least: 1 }) ?? 10;
      const { home } = await context.findBranch(required(name));
      const wanted = await filtered(messages, { ...options, limit: undefined });
      await printMessages(
        context,
        await messagesNear(home, view, wanted, {
          text: asked,
          most,
          minds: { env: context.env },
          signal: context.signal,
        }),
      );
      return undefined;
    }
    await printMessages(context, await filtered(messagesWithWords(messages, asked), options));
    return undefined;
  },
};

/** `pool <history> [ref]`: what a pool is, and how far it is. */
export const poolStatus: CommandSpec['run'] = async (context, [name, ref]) => {
  const { poolDocument } = await import('@stemma/pools');
  const view = await viewOf(context, required(name), ref as string | undefined);
  const { settings } = view;
  const {
    history,
    branch,
    position: label,
    round,
    messages,
    active,
    injected,
    never_shown: never,
  } = poolDocument(view);
  const title = await titleOf(await context.home(), history);
  await context.output.result(poolDocument(view), () =>
    [
      ['branch', `${printable(titled(branch, history, title))} at ${label}`],
      ['round', String(round)],
      ['messages', `${messages}, ${active} of them active, ${injected} injected`],
      ['never shown', `${never} of the active ones`],
      ['sample', `${settings.sample_size} of ${settings.active_pool_size}, seed ${settings.seed}`],
      ['minds', settings.minds.map(printable).join(', ')],
      ['embedder', printable(settings.embedder)],
      ['prompt', oneLine(settings.prompt, context.output.width - 14)],
    ]
      .map(([what = '', value = '']) => `${what.padEnd(12)}  ${value}\n`)
      .join(''),
  );
  return undefined;
};

export const POOL_ARGUMENTS = [POOL, POSITION] as const;
