import { fail } from '@stemma/errors';
import { ACTOR_OPTIONS } from '../actor.ts';
import type { TopCommand } from '../command.ts';
import { actOf, findToSteer } from '../steering-command.ts';
import { HISTORY } from '../options.ts';

export const steer: TopCommand = {
  name: 'steer',
  summary: 'let observers steer the calls of a branch: what they change is in what goes out',
  group: 'Steer a running agent',
  place: 1,
  example: 'stemma steer mine on',
  arguments: [HISTORY, ['[mode]', 'on or off (default: say which it is)']],
  options: [...ACTOR_OPTIONS],
  run: async (context, [name, mode], options) => {
    const { home, branchRef } = await findToSteer(context, name);
    if (mode !== undefined && mode !== 'on' && mode !== 'off') throw fail('E_USAGE', 'the mode is on or off');
    if (mode !== undefined) await home.steering.set(branchRef, mode === 'on', await actOf(context, options));
    const on = await home.steering.isOn(branchRef);
    const { history, branch } = branchRef;
    await context.output.result({ history, branch, steer: on }, () => `steer is ${on ? 'on' : 'off'}\n`);
    return undefined;
  },
};
