import { fail, type BackOff } from '@stemma/errors';

/*
 * How many frames of one history a batch may hold, after other writers were first (record §3):
 *
 *   pace           in one batch   when                                  then
 *   ahead          many           another writer's frame is accepted    backing off
 *   backing off    none           the pause is over                     one at a time
 *   one at a time  one            enough were accepted in a row        ahead
 *                                 another writer's frame is accepted    backing off
 */
export type Pace =
  | { readonly pace: 'ahead' }
  | { readonly pace: 'backing off' }
  /** `quietAfter`: how many more frames must be accepted in a row until the pace is `ahead`. */
  | { readonly pace: 'one at a time'; readonly quietAfter: number };

const QUIET_AFTER = 4;

export const AHEAD: Pace = { pace: 'ahead' };

/** The pace after another writer's frame was accepted instead of one that was sent. */
export const paceAfterConflict = (): Pace => ({ pace: 'backing off' });

/** The pace when the pause after a conflict is over. */
export const paceAfterPause = (): Pace => ({ pace: 'one at a time', quietAfter: QUIET_AFTER });

/** The pace after a frame of this writer was accepted. */
export const paceAfterAccepted = (pace: Pace): Pace => {
  if (pace.pace !== 'one at a time') return pace;
  return pace.quietAfter > 1 ? { ...pace, quietAfter: pace.quietAfter - 1 } : AHEAD;
};

/** How many frames of the history the next batch may hold. */
export const batchLimit = ({ pace }: Pace, ahead: number): number =>
  pace === 'ahead' ? ahead : pace === 'one at a time' ? 1 : 0;

/** The pauses before a command is decided again, or a frame is sent again. */
export const retryBackOff = (random: () => number): BackOff => ({ first: 2, longest: 128, random });

/** The error for a command when other writers were first too often. */
export const conflict = (history: string, tries: number): Error =>
  fail('E_CONFLICT', `others wrote to the history ${history} ${tries} times before this command could`, {
    history,
  });
