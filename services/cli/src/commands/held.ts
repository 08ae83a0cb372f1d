import { QUESTIONS, type AnswerOf } from '@stemma/api';
import { fail } from '@stemma/errors';
import { defined } from '@stemma/values';
import { answersOf } from '../answers.ts';
import type { TopCommand } from '../command.ts';
import { printable, table } from '../output.ts';
import { time } from '../time.ts';
import { titled, titleOf } from '../titles.ts';

export const held: TopCommand = {
  name: 'held',
  summary: 'list the calls that wait before they go out',
  group: 'Steer a running agent',
  place: 5,
  example: 'stemma held',
  arguments: [['[history]', 'a history, by id or name (default: all)']],
  options: [['--all', 'those that were released, too: of one history']],
  run: async ({ home: open, findBranch, output }, [name], options) => {
    const home = await open();
    const all = options['all'] === true;
    if (all && name === undefined) throw fail('E_USAGE', '--all needs a history');
    const history = name === undefined ? undefined : (await findBranch(name)).branchRef.history;
    const { ask } = await answersOf(home);
    const found =
      all && history !== undefined
        ? await ask(QUESTIONS.heldOf, { history })
        : await ask(QUESTIONS.held, defined({ history }));
    const { calls } = found;
    const titles = new Map<string, string>();
    for (const call of calls) titles.set(call.history, await titleOf(home, call.history));
    await output.result(found, () =>
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

type HeldCall = AnswerOf<typeof QUESTIONS.held>['calls'][number];

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
  printable(call.attempt_id),
];
