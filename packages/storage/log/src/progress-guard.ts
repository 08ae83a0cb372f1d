import { fail } from '@stemma/errors';

/** Rounds in a row that a loop may make without getting anywhere. */
const IDLE_ROUNDS = 20;

/**
 * Ends a loop that no longer gets anywhere: called once a round with where the loop stands now, it throws when that has
 * been the same place for 20 rounds.
 *
 * @param what the loop does, for the error: `the rows of partition 0 are rebuilt`.
 * @throws E_BUSY
 */
export const progressGuard = (what: string, rounds = IDLE_ROUNDS): ((place: string | number) => void) => {
  let last: string | number | undefined;
  let idle = 0;
  return (place) => {
    idle = place === last ? idle + 1 : 0;
    last = place;
    if (idle >= rounds)
      throw fail('E_BUSY', `${what}, but stay at ${place}: tried ${rounds} times without progress`);
  };
};
