import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { GetPromptResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { ReadAnswer } from './resources.ts';

/** A question that a person picks: what it asks of, what the model does, and the answers that it begins with. */
type Prompt = {
  readonly name: string;
  readonly description: string;
  readonly args: Readonly<Record<string, string>>;
  readonly text: (given: Readonly<Record<string, string>>) => string;
  readonly answers: (given: Readonly<Record<string, string>>) => readonly (readonly string[])[];
};

const PROMPTS: readonly Prompt[] = [
  {
    name: 'why_did_this_run_fail',
    description:
      'Find the first decision of a recorded run that led to its failure, and what the model was shown then',
    args: { history: 'the history, by id or name' },
    text: ({ history = '' }) => `Find out why the run recorded in ${history} failed.

1. Read the calls below. Note which tools failed, where messages left (LEFT) and who intervened.
2. With the tool call, look at the first call that seems wrong, and at the one before: what it was shown, decided and got back.
3. If it lacked something, find out with why (of the message), diff (of the two calls) or cache what removed it, and with bisect since when.
4. If it was misled, find out with blame who wrote those bytes.
5. Say which call decided wrongly, what it was shown or lacked, and what would have to differ. Name calls (@cN) and messages (#id) as
   evidence. Say what you do not know.`,
    answers: ({ history = '' }) => [
      ['filmstrip', history],
      ['tools', history],
    ],
  },
  {
    name: 'why_do_these_runs_differ',
    description:
      'Find the first call at which two branches or histories were shown or decided something else',
    args: {
      history: 'the history, by id or name',
      a: 'a branch or position: main, @c3',
      b: 'the other branch or position; of another history: OTHER or OTHER@c3',
    },
    text: ({ history = '', a = '', b = '' }) => `Find out why ${a} and ${b} of ${history} went different ways.

1. Read the comparison below: the first call that was shown something else, and who made it so.
2. With call, look at that call on both sides: what each decided.
3. Say whether the models were shown different things, or were shown the same and decided differently.`,
    answers: ({ history = '', a = '', b = '' }) => [['compare', history, a, b]],
  },
];

/** Tokens of each answer that stands in a prompt. */
const BUDGET = 4_000;

export const registerPrompts = (server: McpServer, read: ReadAnswer): void => {
  for (const { name, description, args, text, answers } of PROMPTS) {
    const argsSchema = Object.fromEntries(
      Object.entries(args).map(([argument, meaning]) => [argument, z.string().max(2_000).describe(meaning)]),
    );
    server.registerPrompt(name, { description, argsSchema }, async (given): Promise<GetPromptResult> => {
      const shown = await Promise.all(
        answers(given).map(async ([command = '', ...words]) => {
          const { text: answer } = await read([
            command,
            '--output=agent',
            `--budget=${BUDGET}`,
            '--',
            ...words,
          ]);
          return `${command} ${words.join(' ')}\n${answer}`;
        }),
      );
      const message = [text(given), ...shown].join('\n\n');
      return { description, messages: [{ role: 'user', content: { type: 'text', text: message } }] };
    });
  }
};
