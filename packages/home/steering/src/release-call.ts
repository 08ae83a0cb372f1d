import { fail, isStemmaError } from '@stemma/errors';
import type { Author, Release } from '@stemma/events';
import { releaseOf } from '@stemma/history';
import type { Projection } from '@stemma/projector';
import { findHeldCall, listInterventions, type HeldCallRow } from '@stemma/read-models';
import { defined } from '@stemma/values';
import type { ActorWithNotes, SteeredHome } from './types.ts';

const RECORDER: Author = { recorder: 'proxy' };

/** Records that a call goes on, or does not, and no actor decided it. */
export const recordRelease = async (
  home: SteeredHome,
  {
    history,
    branchId,
    attemptId,
  }: { readonly history: string; readonly branchId: number; readonly attemptId: string },
  how: Release,
): Promise<void> => {
  try {
    await home.submit({
      id: releaseOf(attemptId),
      history,
      branchId,
      by: RECORDER,
      steps: [{ op: 'release_call', attemptId, how, message: null }],
    });
  } catch (error) {
    // Somebody else released it at the same time: the log says how.
    if (!isStemmaError(error, 'E_COMMAND_REUSED')) throw error;
  }
};

/** Releases a held call for an actor. @returns its row @throws E_CALL_NOT_HELD */
export const releaseCall = async (
  home: SteeredHome,
  projection: Projection,
  history: string,
  attemptId: string,
  { abort, message }: { readonly abort: boolean; readonly message?: string },
  { actor, notes }: ActorWithNotes,
): Promise<HeldCallRow> => {
  const heldRow = async (): Promise<HeldCallRow> => {
    await home.catchUp();
    const row = await projection.read((rows) => findHeldCall(rows, history, attemptId));
    if (row === undefined)
      throw fail('E_CALL_NOT_HELD', `no call ${attemptId.slice(0, 200)} of this history is held`, {
        attempt: attemptId,
      });
    if (row.released !== null) throw releasedBefore(row);
    return row;
  };
  const row = await heldRow();
  const { branchId, seq } = row;
  const [edit] = await projection.read(
    (rows) => listInterventions(rows, history, { branchId, from: seq + 1, limit: 1 }).rows,
  );
  try {
    await home.submit({
      id: releaseOf(attemptId),
      history,
      branchId,
      by: { actor },
      ...defined({ notes }),
      steps: [
        {
          op: 'release_call',
          attemptId,
          how: abort ? 'aborted' : edit === undefined ? 'resumed' : 'edited',
          message: abort ? (message ?? null) : null,
        },
      ],
    });
  } catch (error) {
    if (!isStemmaError(error, 'E_COMMAND_REUSED')) throw error;
    await heldRow();
    throw error;
  }
  await home.catchUp();
  const done = await projection.read((rows) => findHeldCall(rows, history, attemptId));
  return done ?? row;
};

const releasedBefore = ({ attemptId, released }: HeldCallRow): Error =>
  fail(
    'E_CALL_NOT_HELD',
    `the call ${attemptId} is not held any more: it was ${released?.how ?? 'released'}${released?.by == null ? '' : ` by ${released.by}`}`,
    { attempt: attemptId },
  );
