import { attemptAnswer, wholeAttemptAnswer } from '@stemma/api';
import { fail } from '@stemma/errors';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { unreadReason, type CallAttempt, type SteeredRequest } from '@stemma/queries';
import type { CommandSpec } from '../command.ts';
import { text } from '../options.ts';
import { calledBy } from '../draw-branches.ts';
import { oneLine, printable, table } from '../output.ts';
import { time } from '../time.ts';

const HISTORY = ['<history>', 'a history or branch, by id or name'] as const;

export const calls: CommandSpec = {
  name: 'calls',
  summary: 'list the calls that were made: model, tokens, time, how each ended',
  arguments: [HISTORY],
  options: [],
  run: async ({ findBranch, output }, [name]) => {
    const { home, branchRef } = await findBranch(name);
    if (output.json) {
      await output.list(answersOf(home, branchRef));
      return undefined;
    }
    const rows: string[][] = [];
    const notes: string[] = [];
    for await (const attempt of attemptsOf(home, branchRef)) {
      rows.push(cellsOf(attempt));
      notes.push(
        [unreadReason(attempt) === null ? '' : 'not read', noteOf(attempt)]
          .filter((part) => part !== '')
          .join('; '),
      );
    }
    const hasNotes = notes.some((note) => note !== '');
    const note = (cell: string): string[] => (hasNotes ? [cell] : []);
    const { branches } = await home.read.history(branchRef.history);
    const caller = branches.find(({ branchId }) => branchId === branchRef.branchId)?.calledBy ?? null;
    if (caller !== null) await output.write(`${printable(calledBy(caller))}\n`);
    await output.write(
      rows.length === 0
        ? 'no calls are recorded: `stemma record -- COMMAND` records those of a command\n'
        : table(
            [
              'CALL',
              'AT',
              'MODEL',
              'STATUS',
              'TOKENS',
              'COST',
              'FIRST BYTE',
              'TIME',
              'ATTEMPT',
              ...note('NOTE'),
            ],
            rows.map((cells, i) => [...cells, ...note(notes[i] ?? '')]),
            output.width,
          ),
    );
    return undefined;
  },
};

export const call: CommandSpec = {
  name: 'call',
  summary: 'show a call: what was asked with which parameters, and what came back',
  arguments: [HISTORY, ['<call>', 'a position (@c7, its newest attempt), or the id of an attempt']],
  options: [
    [
      '--raw <body>',
      'print the bytes of a body as they were on the wire: request, came (before observers changed it) or response',
    ],
  ],
  run: async ({ findBranch, output }, [name, which], options) => {
    const { home, branchRef } = await findBranch(name);
    const { history } = branchRef;
    const attemptId = await attemptNamed(home, branchRef, String(which));
    const raw = text(options, 'raw');
    if (raw !== undefined) {
      if (raw !== 'request' && raw !== 'came' && raw !== 'response')
        throw fail('E_USAGE', '--raw takes request, came or response');
      await output.writeBytes(await home.calls.body(history, attemptId, raw));
      return undefined;
    }
    const found = await home.calls.find(history, attemptId);
    const { parameters, tools, answer, otherAnswers, notShown, notKept, steered } = found;
    await output.result(wholeAttemptAnswer(found), () => {
      const [label, at, model, status, tokens, cost, firstByte, duration] = cellsOf(found);
      const lines: [string, string][] = [
        ['call', `${label ?? ''} (${attemptId})`],
        ['at', at ?? ''],
        ['api', found.api],
        ['to', found.origin === null ? 'not recorded' : printable(found.origin + (found.path ?? ''))],
        ['model', model ?? ''],
        ['status', [status, found.finishReason].filter((part) => part !== null && part !== '').join(', ')],
        ['tokens', tokens ?? ''],
        ['cost', cost ?? ''],
        ['first byte', firstByte ?? ''],
        ['time', duration ?? ''],
        ['parameters', oneLine(JSON.stringify(parameters), 200)],
        ['tools', String(tools.length)],
        ...(noteOf(found) === '' ? [] : [['note', noteOf(found)] as [string, string]]),
        ...(notShown === null ? [] : [['not shown', oneLine(notShown, 200)] as [string, string]]),
        ...(notKept.length === 0 ? [] : [['not kept', notKept.join(', ')] satisfies [string, string]]),
        ...steeredLines(steered),
        ...(found.retryAfter === null
          ? []
          : [['retry after', oneLine(found.retryAfter, 100)] satisfies [string, string]]),
        [titleOfAnswer(0, found.choices), answer === null ? '' : oneLine(JSON.stringify(answer), 200)],
        ...otherAnswers.map((other, i): [string, string] => [
          titleOfAnswer(i + 1, found.choices),
          oneLine(JSON.stringify(other), 200),
        ]),
      ];
      return lines.map(([title, value]) => `${title.padEnd(12)}${value}`.trimEnd() + '\n').join('');
    });
    return undefined;
  },
};

const titleOfAnswer = (index: number, choices: number | null): string =>
  choices === null || choices < 2 ? 'answer' : `${index + 1} of ${choices}`;

/** What else there is to know of an attempt: its choices, where it belongs, and what it led to. */
const noteOf = ({ choices, reassignedTo, assignedFrom, ledTo }: CallAttempt): string =>
  [
    choices !== null && choices > 1 ? `${choices} choices` : '',
    reassignedTo === null
      ? ''
      : `assigned to ${branchRefOf(reassignedTo.history, reassignedTo.branchId).branch}: not counted here`,
    assignedFrom === null ? '' : `assigned from ${assignedFrom.history}`,
    ...ledTo.map(({ history, branchId }) => `led to ${branchRefOf(history, branchId).branch}`),
  ]
    .filter((part) => part !== '')
    .join('; ');
/** What observers changed, each with the frame that says who and why. */
const steeredLines = (steered: SteeredRequest | null): [string, string][] => {
  if (steered === null) return [];
  const { changes, unsteered } = steered;
  return [
    ...(unsteered === null ? [] : [['not steered', oneLine(unsteered, 200)] satisfies [string, string]]),
    ...changes.map(({ what, node, seq }): [string, string] => [what, `${printable(node)} by @s${seq}`]),
  ];
};

const PAGE = 500;

async function* attemptsOf(home: Home, branchRef: BranchRef): AsyncGenerator<CallAttempt> {
  for (let from: number | null = 0; from !== null;) {
    const page = await home.calls.list(branchRef, { from, limit: PAGE });
    yield* page.attempts;
    from = page.next;
  }
}

async function* answersOf(home: Home, branchRef: BranchRef): AsyncGenerator {
  for await (const attempt of attemptsOf(home, branchRef)) yield attemptAnswer(attempt);
}

/** @throws E_CALL_NOT_FOUND if nothing was called with the position */
const attemptNamed = async (home: Home, branchRef: BranchRef, which: string): Promise<string> => {
  if (!which.startsWith('@')) return which;
  const attempts = await home.calls.at(await home.position(branchRef, which));
  const newest = attempts.at(-1);
  if (newest !== undefined) return newest.attemptId;
  throw fail('E_CALL_NOT_FOUND', `no call was recorded with ${which}`, { at: which });
};

const cellsOf = (attempt: CallAttempt): string[] => [
  attempt.label,
  time(attempt.at),
  attempt.model ?? '-',
  statusOf(attempt),
  tokensOf(attempt),
  costOf(attempt),
  durationOf(attempt.firstByteMs),
  durationOf(attempt.durationMs),
  attempt.attemptId,
];

/** How an attempt ended, with the code of HTTP and of the provider if it failed. */
export const statusOf = ({ status, httpStatus, error }: CallAttempt): string =>
  [status, status === 'answered' || httpStatus === null ? '' : String(httpStatus), error?.code ?? '']
    .filter((part) => part !== '')
    .join(' ');

export const tokensOf = ({ usage }: CallAttempt): string =>
  usage === null ? '-' : `${usage.input ?? '?'} → ${usage.output ?? '?'}`;

export const costOf = ({ cost }: CallAttempt): string =>
  cost === null ? '-' : `${cost.amount} ${cost.currency}`;

export const durationOf = (ms: number | null): string =>
  ms === null ? '-' : ms < 10_000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
