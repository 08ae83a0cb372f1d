import { callAddressAnswer } from '@stemma/api';
import type { AssignedCall, CallDestination, Corrector } from '@stemma/call-recording';
import { fail } from '@stemma/errors';
import type { CallAddress } from '@stemma/events';
import { branchRefOf } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { ACTOR_OPTIONS, actorOf, notesOf } from '../actor.ts';
import type { TopCommand } from '../command.ts';
import { text } from '../options.ts';
import { printable } from '../output.ts';
import { titled, titleOf } from '../titles.ts';

export const assign: TopCommand = {
  name: 'assign',
  summary: 'correct whose conversation a call is, or which call led to it',
  group: 'Steer a running agent',
  place: 8,
  example: 'stemma assign mine@c3 --to other',
  arguments: [
    [
      '<call>',
      'HISTORY@c7 (all attempts of that call), or the id of an attempt; with --parent also a HISTORY',
    ],
  ],
  options: [
    ['--to <history>', 'the history or branch that it belongs to'],
    ['--new', 'it begins a history of its own'],
    ['--name <name>', 'with --new: the name of that history'],
    ['--following', 'also the calls after it on its branch'],
    ['--parent <call>', 'the call that led to its conversation; `none`: none did'],
    ...ACTOR_OPTIONS,
  ],
  run: async (context, [which], options) => {
    const home = await context.home();
    const [to, parent] = [text(options, 'to'), text(options, 'parent')];
    const isNew = options['new'] === true;
    if ([to !== undefined, isNew, parent !== undefined].filter((given) => given).length !== 1)
      throw fail('E_USAGE', 'give one of --to, --new and --parent');
    const corrector = {
      by: { actor: await actorOf(context, options) },
      notes: await notesOf(context, options),
    };
    if (parent !== undefined) {
      const linked = await link(home, String(which), parent, corrector);
      await context.output.result(
        {
          history: linked.history,
          branch: linked.branch,
          parent: linked.parent && callAddressAnswer(linked.parent),
        },
        () =>
          (linked.parent === null
            ? `${linked.branch}: no call led to it`
            : `${linked.branch}: ${printable(linked.parent.attemptId)} in ${linked.parent.history} led to it`) +
          (linked.before ? ', as was said before\n' : '\n'),
      );
      return undefined;
    }
    const destination: CallDestination = isNew
      ? { newHistory: text(options, 'name') ?? null }
      : { branch: await home.find(String(to)) };
    const calls = await callsNamed(home, String(which));
    const assigned = await assignAll(home, calls, destination, corrector, options['following'] === true);
    const titles = new Map<string, string>();
    for (const { to: now } of assigned) titles.set(now.history, await titleOf(home, now.history));
    await context.output.result(
      assigned.map(({ from, to: now }) => ({ from: callAddressAnswer(from), to: callAddressAnswer(now) })),
      () =>
        assigned
          .map(
            ({ from, to: now }) =>
              `${printable(from.attemptId)}: now in ${printable(titled(branchRefOf(now.history, now.branchId).branch, now.history, titles.get(now.history) ?? now.history))} as ${printable(now.attemptId)}\n`,
          )
          .join(''),
    );
    return undefined;
  },
};

const assignAll = async (
  home: Home,
  calls: readonly CallAddress[],
  destination: CallDestination,
  corrector: Corrector,
  following: boolean,
): Promise<readonly AssignedCall[]> => {
  const assigned: AssignedCall[] = [];
  // The first one's last: what follows is assigned with it once.
  for (const [index, call] of calls.entries()) {
    const there = assigned.at(-1)?.to;
    const place = there === undefined ? destination : { branch: branchRefOf(there.history, there.branchId) };
    const isLast = index === calls.length - 1;
    assigned.push(...(await home.calls.assignCall(call, place, corrector, following && isLast)));
  }
  return assigned;
};

/** The attempts that are meant, oldest first. @throws E_CALL_NOT_FOUND */
const callsNamed = async (home: Home, which: string): Promise<readonly CallAddress[]> => {
  const at = which.lastIndexOf('@');
  if (at <= 0) {
    const history = await home.calls.locate(which);
    const { branchId } = await home.calls.find(history, which);
    return [{ history, branchId, attemptId: which }];
  }
  const branch = await home.find(which.slice(0, at));
  const attempts = await home.calls.at(await home.position(branch, which.slice(at)));
  const here = attempts.filter(({ reassignedTo }) => reassignedTo === null);
  // Assigning them once more says where they are.
  const found = here.length > 0 ? here : attempts;
  if (found.length === 0)
    throw fail('E_CALL_NOT_FOUND', `no call is recorded with ${printable(which)}`, { at: which });
  return found.map(({ attemptId, branchId }) => ({ history: branch.history, branchId, attemptId }));
};

const link = async (
  home: Home,
  which: string,
  parent: string,
  corrector: Corrector,
): Promise<{
  readonly history: string;
  readonly branch: string;
  readonly parent: CallAddress | null;
  readonly before: boolean;
}> => {
  const branchRef = await conversationOf(home, which);
  const found = parent === 'none' ? null : ((await callsNamed(home, parent)).at(-1) ?? null);
  const { history, branch } = branchRef;
  return { history, branch, ...(await home.calls.linkConversation(branchRef, found, corrector)) };
};

/** The branch that is named, or that of a call. */
const conversationOf = async (home: Home, which: string): Promise<ReturnType<typeof branchRefOf>> => {
  if (!which.includes('@')) {
    try {
      return await home.find(which);
    } catch {
      // It may be the id of an attempt.
    }
  }
  const [call] = await callsNamed(home, which);
  if (call === undefined) throw fail('E_CALL_NOT_FOUND', `there is no call ${printable(which)}`);
  return branchRefOf(call.history, call.branchId);
};
