import { fail } from '@stemma/errors';
import type { BranchRef, Position, TreeView } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { jsonText, messagesFor, providerNames } from '@stemma/model-apis';
import { defined } from '@stemma/values';
import { OBSERVER_OPTION } from '../actor.ts';
import { answersOf } from '../answers.ts';
import type { Context, TopCommand } from '../command.ts';
import { text } from '../options.ts';
import { readableThread } from '../readable-thread.ts';
import { chatMessages, threadText } from '../thread.ts';

export const thread: TopCommand = {
  name: 'thread',
  summary: 'print what the model was shown at a position: to read on a terminal, else the exact bytes',
  group: 'Look',
  place: 7,
  example: 'stemma thread mine @c7',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    [
      '[ref]',
      "a position: @t0 @t-1 @c12 @s57 @name:NAME, or '@*' for every call, one a line, without what it shares with the call before (default: the working state)",
    ],
  ],
  options: [
    [
      '--provider <name>',
      `the provider in whose form the messages are printed: ${providerNames().join(', ')} (default: the recorded messages)`,
    ],
    ['--text', 'messages to read: roles, texts, calls of tools unfolded (default on a terminal)'],
    ['--bytes', 'the exact bytes (default without a terminal)'],
    ['--whole', "with '@*': the whole thread of every call, which grows with the square of a history"],
    OBSERVER_OPTION,
  ],
  run: async (context, [name, ref], options) => {
    const { home, branchRef } = await context.findBranch(name);
    const provider = text(options, 'provider');
    if (ref === '@*') {
      if (options['whole'] === true || provider !== undefined)
        await everyThread(context, home, branchRef, provider);
      else await everyCall(context, home, branchRef);
      return undefined;
    }
    const position = await home.position(branchRef, ref as string | undefined);
    context.observe(branchRef, 'opened', 'thread', position);
    if (await isUncalled(home, branchRef, position))
      context.output.say(`no call was made with ${position.label}: it is what a model would be shown`);
    if (isToRead(context, options, provider)) {
      await read(context, await home.read.view(position));
      return undefined;
    }
    const asked = {
      history: branchRef.branch,
      at: `@s${position.seq}`,
      ...defined({ provider }),
    };
    await context.output.write(await (await answersOf(home)).byName.thread(asked));
    return undefined;
  },
};

/** Who asks at a terminal wants to read; whoever names a form gets it. */
const isToRead = (
  { output }: Context,
  options: Readonly<Record<string, unknown>>,
  provider: string | undefined,
): boolean => {
  const [asText, asBytes] = [options['text'] === true, options['bytes'] === true];
  if ((asText && (asBytes || output.json || provider !== undefined)) || (asBytes && provider !== undefined))
    throw fail('E_USAGE', 'give one of --text, --bytes, --json and --provider');
  return (
    asText || ((output.isTerminal || output.isForAgent) && !asBytes && !output.json && provider === undefined)
  );
};

const read = async ({ output, pager }: Context, view: TreeView): Promise<void> => {
  const text = readableThread(chatMessages(view), { colours: output.colours });
  if (!(await pager(text))) await output.writeLines(text);
};

/** True for a position that no call stands behind, in a history whose calls are recorded. */
const isUncalled = async (home: Home, branchRef: BranchRef, position: Position): Promise<boolean> =>
  (await home.calls.at(position)).length === 0 &&
  (await home.calls.list(branchRef, { limit: 1 })).attempts.length > 0;

/** One line of JSON for each call, oldest first: the messages after those that it shares with the call before. */
const everyCall = async ({ output, signal }: Context, home: Home, branchRef: BranchRef): Promise<void> => {
  for await (const { following, ...call } of home.queries.questions.calls(branchRef)) {
    signal.throwIfAborted();
    await output.write(`${JSON.stringify(call).slice(0, -1)},"following":[${following.join(',')}]}\n`);
  }
};

/** One line of JSON for each snapshot, oldest first, with its whole thread. */
const everyThread = async (
  { output, signal }: Context,
  home: Home,
  branchRef: BranchRef,
  provider: string | undefined,
): Promise<void> => {
  for (const { label, cycle } of await home.read.snapshots(branchRef)) {
    signal.throwIfAborted();
    const view = await home.read.view(await home.position(branchRef, `@c${cycle}`));
    const shown =
      provider === undefined
        ? `"thread":${threadText(view)}`
        : `"messages":${jsonText(messagesFor(provider, chatMessages(view)))}`;
    await output.write(`{"label":${JSON.stringify(label)},"cycle":${cycle},${shown}}\n`);
  }
};
