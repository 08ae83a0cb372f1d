import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { OBSERVER_OPTION } from '../actor.ts';
import type { CommandSpec, Context } from '../command.ts';
import { text } from '../options.ts';
import { providerText, threadText } from '../thread.ts';

export const thread: CommandSpec = {
  name: 'thread',
  summary: 'print the thread at a position: the exact bytes that the model was shown',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    [
      '[ref]',
      "a position: @t0 @t-1 @c12 @s57 @name:NAME, or '@*' for every call, one a line (default: the working state)",
    ],
  ],
  options: [
    [
      '--provider <name>',
      'the provider whose message format is printed: openai (default: the recorded messages)',
    ],
    OBSERVER_OPTION,
  ],
  run: async (context, [name, ref], options) => {
    const { home, branchRef } = await context.findBranch(name);
    const provider = text(options, 'provider');
    if (ref === '@*') {
      await everyCall(context, home, branchRef, provider);
      return undefined;
    }
    const view = await home.view(await home.position(branchRef, ref as string | undefined));
    context.observe(branchRef, 'opened', 'thread', view.position);
    await context.output.write(provider === undefined ? threadText(view) : providerText(view, provider));
    return undefined;
  },
};

/** One line of JSON for each snapshot, oldest first. */
const everyCall = async (
  { output, signal }: Context,
  home: Home,
  branchRef: BranchRef,
  provider: string | undefined,
): Promise<void> => {
  for (const { label, cycle } of await home.snapshots(branchRef)) {
    signal.throwIfAborted();
    const view = await home.view(await home.position(branchRef, `@c${cycle}`));
    const shown =
      provider === undefined ? `"thread":${threadText(view)}` : `"messages":${providerText(view, provider)}`;
    await output.write(`{"label":${JSON.stringify(label)},"cycle":${cycle},${shown}}\n`);
  }
};
