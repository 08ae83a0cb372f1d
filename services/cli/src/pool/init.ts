import { parseWideJson, type WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { PoolSettings } from '@stemma/pools';
import { defined } from '@stemma/values';
import { randomUUID } from 'node:crypto';
import { ACTOR_OPTIONS, actorOf, notesOf } from '../actor.ts';
import type { CommandSpec } from '../command.ts';
import { SET_OPTION, settingsIn, texts } from '../mind-options.ts';
import { MAX_STDIN, readText, required, text, whole } from '../options.ts';
import { printable } from '../output.ts';

type Values = Readonly<Record<string, unknown>>;

export const poolInit: CommandSpec = {
  name: 'init',
  summary: 'start a pool: a history from whose messages models are shown samples',
  arguments: [['<name>', 'the name of the history']],
  options: [
    [
      '--messages <file>',
      'the first messages: a JSON list of texts or {text}, one JSON value a line, or plain text with lines that are only --- between them; - reads stdin (default: none)',
    ],
    ['--sample-size <count>', 'K: the messages that a round shows (default: 5)'],
    ['--active <count>', 'M: samples are drawn from so many newest messages (default: 100)'],
    ['--seed <number>', 'what the samples follow from (default: 1)'],
    [
      '--mind <mind...>',
      'who is asked, one after another: offline, openai:MODEL, openai.responses:MODEL, anthropic:MODEL, each with @URL or not (default: offline)',
    ],
    [
      '--embedder <embedder>',
      'by whose vectors the pool is measured: stemma-ngrams-1, openai:MODEL with @URL or not, outside:NAME (default: stemma-ngrams-1, which is built in)',
    ],
    ['--prompt <text>', 'what a round says before its sample'],
    ['--system <text>', 'what every round shows first'],
    SET_OPTION,
    ...ACTOR_OPTIONS,
    ['--command <id>', 'the id of the command; the same id sent twice has one effect (default: a new id)'],
  ],
  run: async (context, [name], options) => {
    const file = text(options, 'messages');
    const messages = file === undefined ? [] : messagesIn(await readText(context, file, MAX_STDIN), file);
    const system = text(options, 'system');
    const settings = poolSettings(options);
    const { startPool } = await import('@stemma/pools');
    const home = await context.home({ create: true });
    const by = { actor: await actorOf(context, options) };
    const started = await startPool(home, {
      id: text(options, 'command') ?? randomUUID(),
      name: required(name),
      by,
      notes: await notesOf(context, options),
      messages,
      settings,
      minds: { env: context.env },
      signal: context.signal,
      ...defined({ system }),
    });
    await context.output.result(
      { ...started, name: required(name), messages: messages.length },
      () =>
        `${printable(required(name))} is a pool of ${messages.length} ${messages.length === 1 ? 'message' : 'messages'}\n` +
        (messages.length === 0
          ? `stemma inject ${printable(required(name))} 'a first message'\n`
          : `stemma run ${printable(required(name))} --rounds 10\n`),
    );
    return undefined;
  },
};

const poolSettings = (options: Values): Partial<PoolSettings> => {
  const [size, active, seed] = [
    whole(options, 'sampleSize', { least: 1, most: 10_000 }),
    whole(options, 'active', { least: 1, most: 1_000_000 }),
    whole(options, 'seed', { least: 0, most: 0xffff_ffff }),
  ];
  const minds = texts(options, 'mind');
  const embedder = text(options, 'embedder');
  const prompt = text(options, 'prompt');
  const parameters = settingsIn(options);
  return {
    ...defined({ sample_size: size, active_pool_size: active, seed }),
    ...defined({ minds: minds.length === 0 ? undefined : [...minds], embedder, prompt }),
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
  };
};

/** The messages of a file. @throws E_INPUT_SHAPE */
const messagesIn = (given: string, file: string): readonly string[] => {
  const trimmed = given.trim();
  if (/^[[{"]/.test(trimmed)) {
    const isList = trimmed.startsWith('[');
    const values = isList
      ? (parseWideJson(trimmed, file) as readonly WideJson[])
      : trimmed
          .split(/\r\n|\n|\r/)
          .flatMap((line) => (line.trim() === '' ? [] : [parseWideJson(line, file)]));
    return values.map((value, i) => {
      const found = typeof value === 'object' && value !== null && 'text' in value ? value['text'] : value;
      if (typeof found !== 'string')
        throw fail('E_INPUT_SHAPE', `${file}: message ${i + 1} is no text and no object with a text`);
      return found;
    });
  }
  return trimmed
    .split(/^[ \t]*---[ \t]*$/m)
    .map((message) => message.trim())
    .filter((message) => message !== '');
};
