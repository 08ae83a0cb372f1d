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

const viewOf = async (context: Context, name: string, ref: string | undefined): Promise<PoolView> => {
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
}: SampledMessage) => ({
  id,
  vector_id: vectorId,
  round,
  mind_id: mindId,
  source,
  intervention,
  sampled,
  active: isActive,
  text,
});

const printMessages = async ({ output }: Context, messages: readonly SampledMessage[]): Promise<void> => {
  await output.result(messages.map(documentOf), () =>
    messages.length === 0
      ? 'no messages\n'
      : table(
          ['#', 'ROUND', 'FROM', 'SHOWN', 'TEXT'],
          messages.map(({ vectorId, round, mindId, source, sampled, text }) => [
            String(vectorId ?? '-'),
            String(round ?? '-'),
            mindId >= 0 ? `mind ${mindId}` : printable(source),
            String(sampled),
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
  summary: 'list the messages of a pool that have all the words, upper and lower case alike',
  arguments: [POOL, ['<words...>', 'the words; a message has each of them, in any order']],
  options: FILTERS,
  run: async (context, [name, words], options) => {
    const wanted = (Array.isArray(words) ? (words as readonly string[]) : [required(words)])
      .flatMap((word) => word.split(/\s+/))
      .filter((word) => word !== '')
      .map(folded);
    const { messages } = await viewOf(context, required(name), undefined);
    const found = messages.filter(({ text }) => {
      const said = folded(text);
      return wanted.every((word) => said.includes(word));
    });
    await printMessages(context, filtered(found, options));
    return undefined;
  },
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
