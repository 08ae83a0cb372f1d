import type { Step } from '@stemma/history';
import type { Context, TopCommand } from './command.ts';
import { HISTORY, required } from './options.ts';
import { AUTHOR_OPTIONS, printOutcome, submitSteps } from './submit.ts';

type Arguments = readonly (string | readonly string[] | undefined)[];

type Options = Readonly<Record<string, unknown>>;

/** A command that makes one step of its arguments and submits it. */
export const stepCommand = (
  line: Omit<TopCommand, 'run'>,
  step: (args: Arguments, options: Options, context: Context) => Promise<Step> | Step | readonly Step[],
): TopCommand => ({
  ...line,
  arguments: [HISTORY, ...line.arguments],
  options: [...line.options, ...AUTHOR_OPTIONS],
  run: async (context, [name, ...args], options) => {
    const made = await step(args, options, context);
    const steps = 'op' in made ? [made] : made;
    await printOutcome(context, await submitSteps(context, await context.findBranch(name), steps, options));
    return undefined;
  },
});

export const nodeId = (value: Arguments[number]): string => required(value).replace(/^#/, '');
