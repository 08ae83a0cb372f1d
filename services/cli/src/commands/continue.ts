import type { ContinuedRun } from '@stemma/agent-loop';
import { attemptAnswer } from '@stemma/api';
import { ERRORS } from '@stemma/errors';
import { textOfContent } from '@stemma/model-apis';
import { defined } from '@stemma/values';
import { randomBytes } from 'node:crypto';
import { ACTOR_OPTIONS, actorOf, notesOf } from '../actor.ts';
import type { TopCommand } from '../command.ts';
import { placeIn, SET_OPTION, settingsIn, toolSourcesIn } from '../mind-options.ts';
import { required, text, whole } from '../options.ts';
import { indented, printable } from '../output.ts';
import { withTitles } from '../titles.ts';

export const continueCommand: TopCommand = {
  name: 'continue',
  summary:
    'go on from a position with a model: its answers are recorded, and shown to it with the results of its tools',
  group: 'Record and import',
  place: 4,
  example: 'stemma continue mine:what-if --calls 3 --mind openai:gpt-4o',
  arguments: [
    ['<history>', 'a history or branch, by id or name, with a position or not: talk, talk:main, talk@c7'],
    ['[ref]', 'the position: @t-1 @c12 @s57 @name:NAME (default: the tip). Anything else is forked first'],
  ],
  options: [
    ['--calls <count>', 'the most calls of the run (default: 1)'],
    ['--tokens <count>', 'the most tokens that its calls take together (default: no limit)'],
    [
      '--mind <mind>',
      'openai:MODEL, openai.responses:MODEL, anthropic:MODEL, gemini:MODEL, ollama:MODEL, cohere:MODEL, bedrock:MODEL, each with @URL or not, or offline (default: the model of the call before)',
    ],
    [
      '--tools <source...>',
      'where results of tools come from: recorded, ask, none, or a command; several are tried in turn (default: recorded)',
    ],
    SET_OPTION,
    ['--name <name>', 'the name of the fork (default: none); with a name the tip is forked, too'],
    ['--run <id>', 'the id of the run; one that was interrupted goes on (default: a new id)'],
    ...ACTOR_OPTIONS,
  ],
  run: async (context, [given, ref], options) => {
    const { name, at } = placeIn(required(given), ref as string | undefined);
    const { output, env, signal } = context;
    const tools = toolSourcesIn(context, options);
    const set = settingsIn(options);
    const calls = whole(options, 'calls', { least: 0, most: 10_000 });
    const tokens = whole(options, 'tokens', { least: 1 });
    const mind = text(options, 'mind');
    const fork = text(options, 'name');
    const { continueBranch } = await import('@stemma/agent-loop');
    const { home, branchRef } = await context.findBranch(name);
    const result = await continueBranch(home, branchRef, {
      run: text(options, 'run') ?? randomBytes(6).toString('hex'),
      actor: await actorOf(context, options),
      notes: await notesOf(context, options),
      ...defined({ at, name: fork, calls, tokens, mind }),
      set,
      tools,
      minds: { env },
      signal,
      say: output.say,
    });
    const branch = await withTitles(home, result.branch);
    await output.result({ ...result, calls: result.calls.map(attemptAnswer) }, () =>
      describe({ ...result, branch }),
    );
    if (result.dropped.length > 0)
      output.say(`${result.mind} has nothing like ${result.dropped.join(', ')}: left out`);
    return exitOf(result);
  },
};

/** What ended well is 0; what somebody should look at is 1; an error has its own. */
const exitOf = ({ ended, error }: ContinuedRun): number => {
  if (error !== null) return ERRORS[error.code].exit;
  return ended === 'done' || ended === 'calls' || ended === 'tokens' ? 0 : 1;
};

const describe = ({ run, branch, position, calls, answer, ended, why }: ContinuedRun): string => {
  const said = answer === null ? '' : textOfContent(answer['content']);
  const tokens = calls.map(({ usage }) => (usage?.input ?? 0) + (usage?.output ?? 0));
  const costs = calls.filter(({ status }) => status === 'answered').length;
  return [
    said === '' ? '' : `${indented(said, 2).replace(/^/, '  ')}\n`,
    `${ended}: ${printable(why)}\n`,
    `${costs} ${costs === 1 ? 'call' : 'calls'}, ${tokens.reduce((a, b) => a + b, 0)} tokens; ${branch} is at ${position}\n`,
    ended === 'done' ? '' : `stemma continue ${branch} --run ${run}\n`,
  ].join('');
};
