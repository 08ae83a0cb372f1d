import { heldCallAnswer } from '@stemma/api';
import { fail, isStemmaError } from '@stemma/errors';
import type { Breakpoint } from '@stemma/history';
import type { HeldCall } from '@stemma/home';
import { actorOf, notesOf } from './actor.ts';
import type { Context } from './command.ts';
import { printable } from './output.ts';

export type Options = Readonly<Record<string, unknown>>;

export const actOf = async (
  context: Context,
  options: Options,
): Promise<{ actor: string; notes: string }> => ({
  actor: await actorOf(context, options),
  notes: await notesOf(context, options),
});

export const conditionsOf = ({ timeout_ms: _timeout, then: _then, ...conditions }: Breakpoint): string =>
  Object.entries(conditions)
    .map(([condition, value]) => `${condition} ${printable(String(value))}`)
    .join(', ');

/**
 * The home and the branch that a name means, for what is set before an agent runs: where there is none, the error says how
 * one begins. @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const findToSteer = async (
  { findBranch }: Context,
  name: Parameters<Context['findBranch']>[0],
): ReturnType<Context['findBranch']> => {
  try {
    return await findBranch(name);
  } catch (error) {
    if (!isStemmaError(error, 'E_HISTORY_NOT_FOUND')) throw error;
    throw fail(error.code, `${error.message}; \`stemma start --name NAME\` begins one`, error.detail);
  }
};

/** The calls that wait and have this id, or are of this history. @throws E_CALL_NOT_HELD, E_HISTORY_NOT_FOUND */
export const waiting = async (
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

export const printReleased = ({ output }: Context, calls: readonly HeldCall[]): Promise<void> =>
  output.result({ calls: calls.map(heldCallAnswer) }, () =>
    calls.map(({ attemptId, released }) => `${released?.how ?? ''} ${printable(attemptId)}\n`).join(''),
  );
