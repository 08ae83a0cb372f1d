import { defined } from '@stemma/values';
import { ACTOR_OPTIONS } from '../actor.ts';
import type { TopCommand } from '../command.ts';
import { required, text } from '../options.ts';
import { actOf, waiting, printReleased } from '../steering-command.ts';

export const abort: TopCommand = {
  name: 'abort',
  summary: 'end a held call: it is not sent, and its client is told so',
  group: 'Steer a running agent',
  place: 7,
  example: "stemma abort mine --message 'not today'",
  arguments: [['<call>', 'the id of an attempt, or a history: all of its calls that wait']],
  options: [['--message <text>', 'what the client is told'], ...ACTOR_OPTIONS],
  run: async (context, [which], options) => {
    const act = await actOf(context, options);
    const message = text(options, 'message');
    const how = { abort: true, ...defined({ message }) };
    const released = [];
    const { home, calls } = await waiting(context, required(which));
    for (const { history, attemptId } of calls)
      released.push(await home.steering.release(history, attemptId, how, act));
    await printReleased(context, released);
    return undefined;
  },
};
