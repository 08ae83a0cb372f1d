import { ACTOR_OPTIONS } from '../actor.ts';
import type { TopCommand } from '../command.ts';
import { required } from '../options.ts';
import { actOf, waiting, printReleased } from '../steering-command.ts';

export const resume: TopCommand = {
  name: 'resume',
  summary: 'let held calls go on, with what their branches show now',
  group: 'Steer a running agent',
  place: 6,
  example: 'stemma resume mine',
  arguments: [['<call>', 'the id of an attempt, or a history: all of its calls that wait']],
  options: [...ACTOR_OPTIONS],
  run: async (context, [which], options) => {
    const act = await actOf(context, options);
    const released = [];
    const { home, calls } = await waiting(context, required(which));
    for (const { history, attemptId } of calls)
      released.push(await home.steering.release(history, attemptId, { abort: false }, act));
    await printReleased(context, released);
    return undefined;
  },
};
