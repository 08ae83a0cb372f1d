import { ACTOR_OPTIONS } from '../actor.ts';
import type { TopCommand } from '../command.ts';
import { HISTORY, required } from '../options.ts';
import { actOf } from '../steering-command.ts';

export const unbreak: TopCommand = {
  name: 'unbreak',
  summary: 'remove a breakpoint; calls that it holds wait on',
  group: 'Steer a running agent',
  place: 4,
  example: 'stemma unbreak mine b1',
  arguments: [HISTORY, ['<name>', 'the breakpoint, by name']],
  options: [...ACTOR_OPTIONS],
  run: async (context, [history, name], options) => {
    const { home, branchRef } = await context.findBranch(history);
    await home.steering.removeBreakpoint(branchRef, required(name), await actOf(context, options));
    await context.output.result(
      { ...branchRef, removed: required(name) },
      () => `removed ${required(name)}\n`,
    );
    return undefined;
  },
};
