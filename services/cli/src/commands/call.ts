import { fail } from '@stemma/errors';
import type { BranchRef, Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { ProviderCall, SteeredRequest, WholeCallAttempt, WholeProviderCall } from '@stemma/queries';
import { answersOf } from '../answers.ts';
import { callMessagesText } from '../call-messages-text.ts';
import type { TopCommand } from '../command.ts';
import { HISTORY, text } from '../options.ts';
import { oneLine, printable } from '../output.ts';
import { cellsOf, noteOf } from '../call-cells.ts';
import { positionOf } from '../references.ts';

export const call: TopCommand = {
  name: 'call',
  summary:
    'show a call: what it was shown since the call before, what it decided and got back, with which parameters it was asked',
  group: 'Look',
  place: 6,
  example: 'stemma call mine @c7 --raw request',
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
    const named = positionOf(String(which));
    const asked = await askedCall(home, branchRef, named);
    const raw = text(options, 'raw');
    const messages =
      raw !== undefined || output.json ? '' : await messagesOf(home, branchRef, asked, output.width);
    const { attemptId } = asked;
    if (attemptId === null) {
      if (messages === '') throw uncalled(named);
      await output.write(
        `no request is recorded with ${asked.at?.label ?? ''}: what its messages say\n\n${messages}`,
      );
      return undefined;
    }
    if (raw !== undefined) {
      if (raw !== 'request' && raw !== 'came' && raw !== 'response')
        throw fail('E_USAGE', '--raw takes request, came or response');
      await output.writeBytes(await home.calls.bodyOfAny(history, attemptId, raw));
      return undefined;
    }
    if (output.json) {
      const answer = await (
        await answersOf(home)
      ).byName.attempt({ history: branchRef.branch, attempt: attemptId });
      await output.result(answer, () => '');
      return undefined;
    }
    const other = await home.calls.findProviderCall(history, attemptId);
    if (other !== undefined) {
      await output.result(other, () => describeOther(other));
      return undefined;
    }
    const found = await home.calls.find(history, attemptId);
    await output.result(found, () => describe(found) + (messages === '' ? '' : `\n${messages}`));
    return undefined;
  },
};

/** A call as it was asked for: by its position, where one may be recorded or not, or by the id of an attempt. */
type AskedCall = { readonly attemptId: string | null; readonly at: Position | null };

/** What the messages of the history say of a call; empty for one that is not named by a snapshot. */
const messagesOf = async (
  home: Home,
  branchRef: BranchRef,
  { at }: AskedCall,
  width: number,
): Promise<string> => {
  if (at === null || !/^@c\d+$/.test(at.label)) return '';
  return callMessagesText(home, branchRef, Number(at.label.slice(2)), width);
};

const describe = (found: WholeCallAttempt): string => {
  const { attemptId, parameters, tools, answer, otherAnswers, notShown, notKept, steered } = found;
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
};

/** A call without messages. */
const describeOther = (call: WholeProviderCall): string => {
  const { attemptId, origin, path, notKept } = call;
  const [word, at, model, status, tokens, cost, firstByte, duration] = cellsOf(call);
  const sizeOf = (body: ProviderCall['request']): string =>
    body === null ? '-' : `${body.size} bytes (${body.sha256})`;
  const lines: [string, string][] = [
    ['call', `${printable(word ?? '')} (${attemptId})`],
    ['at', at ?? ''],
    ['api', 'other: no messages of it are read'],
    ['to', origin === null ? 'not recorded' : printable(origin + (path ?? ''))],
    ['model', oneLine(model ?? '', 200)],
    ['status', status ?? ''],
    ['tokens', tokens ?? ''],
    ['cost', cost ?? ''],
    ['first byte', firstByte ?? ''],
    ['time', duration ?? ''],
    ['request', sizeOf(call.request)],
    ['response', sizeOf(call.response)],
    ...(notKept.length === 0 ? [] : [['not kept', notKept.join(', ')] satisfies [string, string]]),
  ];
  return lines.map(([title, value]) => `${title.padEnd(12)}${value}`.trimEnd() + '\n').join('');
};

const titleOfAnswer = (index: number, choices: number | null): string =>
  choices === null || choices < 2 ? 'answer' : `${index + 1} of ${choices}`;

/** What observers changed, each with the frame that says who and why. */
const steeredLines = (steered: SteeredRequest | null): [string, string][] => {
  if (steered === null) return [];
  const { changes, unsteered } = steered;
  return [
    ...(unsteered === null ? [] : [['not steered', oneLine(unsteered, 200)] satisfies [string, string]]),
    ...changes.map(({ what, node, seq }): [string, string] => [what, `${printable(node)} by @s${seq}`]),
  ];
};

const askedCall = async (home: Home, branchRef: BranchRef, which: string): Promise<AskedCall> => {
  if (!which.startsWith('@')) return { attemptId: which, at: null };
  const at = await home.position(branchRef, which);
  return { attemptId: (await home.calls.at(at)).at(-1)?.attemptId ?? null, at };
};

const uncalled = (which: string): Error =>
  fail('E_CALL_NOT_FOUND', `no call was recorded with ${which}`, { at: which });
