import { fail } from '@stemma/errors';
import type { Breakpoint } from '@stemma/history';
import { defined } from '@stemma/values';
import { ACTOR_OPTIONS } from '../actor.ts';
import type { TopCommand } from '../command.ts';
import { HISTORY, text, whole } from '../options.ts';
import { type Options, actOf, conditionsOf, findToSteer } from '../steering-command.ts';

/** How long a call is held unless the breakpoint says otherwise, and how a time is written. */
const TIMEOUT = '10m';

const DURATION = /^(\d{1,6})(ms|s|m|h)$/;

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

const durationOf = (options: Options): number => {
  const given = text(options, 'timeout') ?? TIMEOUT;
  const [, number, unit] = DURATION.exec(given) ?? [];
  if (number === undefined)
    throw fail('E_USAGE', `--timeout must be a time such as 30s, 10m or 1h, not ${JSON.stringify(given)}`);
  return Number(number) * UNITS[unit as keyof typeof UNITS];
};

export const breakCommand: TopCommand = {
  name: 'break',
  summary: 'set a breakpoint: a call is held before it goes out, where all conditions are true',
  group: 'Steer a running agent',
  place: 2,
  example: 'stemma break mine --when "^ah .cb[role=\'tool\']" --timeout 10m',
  arguments: [HISTORY],
  options: [
    ['--when <selector>', 'a node of the tree as it would be sent matches'],
    ['--cycle <n>', 'the call would be of this cycle'],
    ['--model <name>', 'the call asks this model; * at the end stands for the rest of a name'],
    ['--tool <name>', 'the call brings a call of this tool'],
    [
      '--changed <selector>',
      'what matches has changed since the newest snapshot; with a range such as @t-5..@t0, in it',
    ],
    ['--timeout <time>', `the time after which the call goes on (default: ${TIMEOUT})`],
    ['--then <what>', 'what becomes of the call then: go-on or abort (default: go-on)'],
    ['--name <name>', 'the name of the breakpoint (default: b1, b2 …)'],
    ...ACTOR_OPTIONS,
  ],
  run: async (context, [name], options) => {
    const { home, branchRef } = await findToSteer(context, name);
    const then = text(options, 'then') ?? 'go-on';
    if (then !== 'go-on' && then !== 'abort') throw fail('E_USAGE', '--then takes go-on or abort');
    const cycle = whole(options, 'cycle', { least: 1 });
    const breakpoint: Breakpoint = {
      ...Object.fromEntries(
        (['when', 'model', 'tool', 'changed'] as const).flatMap((each) => {
          const value = text(options, each);
          return value === undefined ? [] : [[each, value]];
        }),
      ),
      ...defined({ cycle }),
      timeout_ms: durationOf(options),
      then,
    };
    if (Object.keys(breakpoint).length === 2)
      throw fail('E_USAGE', 'give a condition: --when, --cycle, --model, --tool or --changed');
    const made = await home.steering.addBreakpoint(
      branchRef,
      breakpoint,
      await actOf(context, options),
      text(options, 'name'),
    );
    await context.output.result(
      { history: branchRef.history, branch: branchRef.branch, name: made, ...breakpoint },
      () => `${made}: calls are held where ${conditionsOf(breakpoint)}\n`,
    );
    return undefined;
  },
};
