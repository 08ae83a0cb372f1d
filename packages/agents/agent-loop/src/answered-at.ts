import { branchRefOf, type Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { WholeCallAttempt } from '@stemma/queries';
import { comparableMessage } from '@stemma/model-apis';
import { newestCallBefore } from './call-settings.ts';
import { messagesOf } from './chat-message.ts';

/**
 * The answered call whose answer nobody has shown to a model yet: it was made by the same branch, with what a position shows.
 * It is paid for, so nobody need ask again.
 */
export const answeredAt = async (
  home: Pick<Home, 'calls' | 'position' | 'read'>,
  position: Position,
): Promise<WholeCallAttempt | undefined> => {
  const { history, branchId } = position;
  const newest = await newestCallBefore(home, position);
  if (newest === null || newest.branchId !== branchId) return undefined;
  const called = await home.position(branchRefOf(history, branchId), `@s${newest.seq}`);
  const answered = (await home.calls.at(called)).findLast(({ status }) => status === 'answered');
  if (answered === undefined) return undefined;
  const shown = async (at: Position): Promise<string> =>
    comparableMessage([...messagesOf(await home.read.view(at))]);
  if ((await shown(called)) !== (await shown(position))) return undefined;
  return home.calls.find(history, answered.attemptId);
};
