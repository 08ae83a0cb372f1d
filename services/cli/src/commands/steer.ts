import { fail } from '@stemma/errors';
import type { Breakpoint } from '@stemma/history';
import type { HeldCall } from '@stemma/home';
import { defined } from '@stemma/values';
import { ACTOR_OPTIONS, actorOf, notesOf } from '../actor.ts';
import type { CommandSpec, Context } from '../command.ts';
import { MAX_STDIN, readText, required, text, whole } from '../options.ts';
import { printable, table } from '../output.ts';
import { AUTHOR_OPTIONS, printOutcome, submitSteps } from '../submit.ts';
import { time } from '../time.ts';
import { titled, titleOf } from '../titles.ts';

const HISTORY = ['<history>', 'a history or branch, by id or name'] as const;

type Options = Readonly<Record<string, unknown>>;

const actOf = async (context: Context, options: Options): Promise<{ actor: string; notes: string }> => ({
  actor: await actorOf(context, options),
  notes: await notesOf(context, options),
});

export const steer: CommandSpec = {
  name: 'steer',
  summary: 'let observers steer the calls of a branch: what they change is in what goes out',
  arguments: [HISTORY, ['[mode]', 'on or off (default: say which it is)']],
  options: [...ACTOR_OPTIONS],
  run: async (context, [name, mode], options) => {
    const { home, branchRef } = await context.findBranch(name);
    if (mode !== undefined && mode !== 'on' && mode !== 'off') throw fail('E_USAGE', 'the mode is on or off');
    if (mode !== undefined) await home.steering.set(branchRef, mode === 'on', await actOf(context, options));
    const on = await home.steering.isOn(branchRef);
    const { history, branch } = branchRef;
    await context.output.result({ history, branch, steer: on }, () => `steer is ${on ? 'on' : 'off'}\n`);
    return undefined;
  },
};

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

export const breakCommand: CommandSpec = {
  name: 'break',
  summary: 'set a breakpoint: a call is held before it goes out, where all conditions are true',
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
    const { home, branchRef } = await context.findBranch(name);
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

const conditionsOf = ({ timeout_ms: _timeout, then: _then, ...conditions }: Breakpoint): string =>
  Object.entries(conditions)
    .map(([condition, value]) => `${condition} ${printable(String(value))}`)
    .join(', ');

export const breaks: CommandSpec = {
  name: 'breaks',
  summary: 'list the breakpoints of a branch',
  arguments: [HISTORY],
  options: [],
  run: async ({ findBranch, output }, [name]) => {
    const { home, branchRef } = await findBranch(name);
    const breakpoints = (await home.steering.breakpoints(branchRef)).map((each) => ({
      name: each.name,
      ...each.breakpoint,
    }));
    await output.result({ ...branchRef, breakpoints }, () =>
      breakpoints.length === 0
        ? 'no breakpoints\n'
        : table(
            ['NAME', 'WHERE', 'AT MOST', 'THEN'],
            breakpoints.map(({ name: own, ...each }) => [
              own,
              conditionsOf(each),
              `${each.timeout_ms / 1_000} s`,
              each.then,
            ]),
          ),
    );
    return undefined;
  },
};

export const unbreak: CommandSpec = {
  name: 'unbreak',
  summary: 'remove a breakpoint; calls that it holds wait on',
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

export const held: CommandSpec = {
  name: 'held',
  summary: 'list the calls that wait before they go out',
  arguments: [['[history]', 'a history, by id or name (default: all)']],
  options: [['--all', 'those that were released, too: of one history']],
  run: async ({ home: open, findBranch, output }, [name], options) => {
    const home = await open();
    const all = options['all'] === true;
    if (all && name === undefined) throw fail('E_USAGE', '--all needs a history');
    const history = name === undefined ? undefined : (await findBranch(name)).branchRef.history;
    const calls = await home.steering.held(history, { all });
    const titles = new Map<string, string>();
    for (const call of calls) titles.set(call.history, await titleOf(home, call.history));
    await output.result({ calls }, () =>
      calls.length === 0
        ? 'no calls wait\n'
        : table(
            ['HISTORY', 'CYCLE', 'MODEL', 'BREAKPOINTS', 'SINCE', 'UNTIL', 'THEN', 'RELEASED', 'ATTEMPT'],
            calls.map((call) => cellsOf(call, titles.get(call.history) ?? call.history)),
            output.width,
          ),
    );
    return undefined;
  },
};

const cellsOf = (call: HeldCall, title: string): string[] => [
  titled(call.branch, call.history, title),
  `@c${call.cycle}`,
  call.model === null ? '-' : printable(call.model),
  call.breakpoints.map(printable).join(' '),
  time(call.since),
  time(call.until),
  call.then,
  call.released === null
    ? '-'
    : call.released.how + (call.released.by === null ? '' : ` by ${printable(call.released.by)}`),
  printable(call.attemptId),
];

export const resume: CommandSpec = {
  name: 'resume',
  summary: 'let held calls go on, with what their branches show now',
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

export const abort: CommandSpec = {
  name: 'abort',
  summary: 'end a held call: it is not sent, and its client is told so',
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

/** The calls that wait and have this id, or are of this history. @throws E_CALL_NOT_HELD, E_HISTORY_NOT_FOUND */
const waiting = async (
  context: Context,
  which: string,
): Promise<{
  readonly home: Awaited<ReturnType<Context['home']>>;
  readonly calls: readonly { readonly history: string; readonly attemptId: string }[];
}> => {
  const home = await context.home();
  const all = await home.steering.held();
  const named = all.filter(({ attemptId }) => attemptId === which);
  if (named.length > 0) return { home, calls: named };
  if (/^call-[0-9a-f-]{36}$/.test(which))
    throw fail(
      'E_CALL_NOT_HELD',
      `the call ${which} does not wait: \`stemma held H --all\` shows its release`,
      {
        attempt: which,
      },
    );
  const { history } = await home.find(which);
  const calls = all.filter((call) => call.history === history);
  if (calls.length > 0) return { home, calls };
  throw fail('E_CALL_NOT_HELD', `no call of ${which} is held`);
};

const printReleased = ({ output }: Context, calls: readonly HeldCall[]): Promise<void> =>
  output.result({ calls }, () =>
    calls.map(({ attemptId, released }) => `${released?.how ?? ''} ${printable(attemptId)}\n`).join(''),
  );

export const edit: CommandSpec = {
  name: 'edit',
  summary: 'give a block of the context another content, also one of an earlier call',
  arguments: [HISTORY, ['<id>', 'the block, by id']],
  options: [['--content <text>', 'the new content as text; - reads stdin'], ...AUTHOR_OPTIONS],
  run: async (context, [name, id], options) => {
    const given = text(options, 'content');
    if (given === undefined) throw fail('E_USAGE', 'the new content is missing: give --content');
    const content = given === '-' ? await readText(context, '-', MAX_STDIN) : given;
    const found = await context.findBranch(name);
    const block = required(id).replace(/^#/, '');
    const steps = await found.home.steering.editSteps(found.branchRef, new Map([[block, content]]));
    await printOutcome(context, await submitSteps(context, found, [...steps], options));
    return undefined;
  },
};
